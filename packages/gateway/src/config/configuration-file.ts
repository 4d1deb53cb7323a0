import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { type ConfigurationShape, configurationSchema } from './configuration-schema.ts';
import { didYouMean } from './suggestion.ts';
import { type ConfigurationProblem, readYaml, type YamlPath, type YamlSource } from './yaml-source.ts';

/** A complaint names all words that are possible where there are no more than these. */
const listedMax = 10;

/** A configuration file whose shape is right; what it refers to has not been looked up yet. */
export interface ConfigurationFile {
  readonly name: string;
  readonly text: string;
  readonly shape: ConfigurationShape;
  readonly source: YamlSource;
}

/** Reads the text of a configuration file and reports everything that is wrong with it at once. */
export function readConfigurationFile(
  text: string,
  name: string,
): Result<ConfigurationFile, readonly ConfigurationProblem[]> {
  const source = readYaml(text, name);
  if (!source.ok) return source;
  const read = configurationSchema.safeParse(withoutExtensions(source.value.plain ?? {}));
  if (read.success) return succeed({ name, text, shape: read.data, source: source.value });
  return fail(shapeProblems(source.value, configurationSchema, read.error));
}

/** Members whose names begin with `x-` are their author's own, such as anchors that aliases stand for. */
function withoutExtensions(plain: unknown): unknown {
  if (!isRecord(plain) || Array.isArray(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).filter(([name]) => !name.startsWith('x-')));
}

/** The text a file gives for a setting, by the setting's dotted path; a list is written in JSON. */
export function settingText(file: ConfigurationFile, yaml: string): { text: string; where: string } | null {
  const path: YamlPath = yaml.split('.');
  const text = file.source.exactText(path) ?? listText(valueAt(file.source.plain, path));
  return text === null ? null : { text, where: file.source.where(path) };
}

function listText(value: unknown): string | null {
  return Array.isArray(value) ? JSON.stringify(value) : null;
}

/** Everything that is wrong with the shape of a file, in the words of its author and with its places. */
export function shapeProblems(
  source: YamlSource,
  schema: z.ZodType,
  error: z.ZodError,
): readonly ConfigurationProblem[] {
  return error.issues.flatMap((issue) => issueProblems(source, schema, issue));
}

function issueProblems(
  source: YamlSource,
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
): readonly ConfigurationProblem[] {
  const path = yamlPath(issue.path);
  const problem = (message: string): readonly ConfigurationProblem[] => [
    { where: source.where(path), path: path.join('.'), message },
  ];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => ({
        where: source.whereName(path, name),
        path: [...path, name].join('.'),
        message: `there is no such member${didYouMean(name, knownMembers(schema, path))}`,
      }));
    case 'invalid_key': {
      const reason = issue.issues[0]?.message ?? issue.message;
      const parent = path.slice(0, -1);
      return [
        {
          where: source.whereName(parent, String(path.at(-1))),
          path: path.join('.'),
          message: `the name ${reason}`,
        },
      ];
    }
    case 'invalid_type':
      if (!issue.message.startsWith('Invalid input')) return problem(issue.message);
      return problem(mustBe(kind(issue.expected), valueAt(source.plain, path)));
    case 'invalid_value': {
      const given = valueAt(source.plain, path);
      const options = issue.values.map(String);
      const meant = given === undefined ? '' : didYouMean(String(given), options);
      if (meant !== '' && options.length > listedMax) return problem(`there is no "${given}"${meant}`);
      return problem(mustBe(options.join(' or '), given) + meant);
    }
    case 'invalid_union':
      return unionProblems(source, schema, issue, path) ?? problem(issue.message);
    default:
      return problem(issue.message.charAt(0).toLowerCase() + issue.message.slice(1));
  }
}

/** A union fails in each of its branches; the one that got furthest into the value says best what was meant. */
function unionProblems(
  source: YamlSource,
  schema: z.ZodType,
  issue: z.core.$ZodIssueInvalidUnion,
  path: YamlPath,
): readonly ConfigurationProblem[] | null {
  const inner = issue.errors.find((branch) =>
    branch.some((found) => found.path.length > 0 || found.code === 'unrecognized_keys'),
  );
  if (inner === undefined) return null;
  return inner.flatMap((found) =>
    issueProblems(source, schema, { ...found, path: [...path, ...found.path] }),
  );
}

const kinds: Readonly<Record<string, string>> = {
  object: 'a map of members',
  record: 'a map of members',
  array: 'a list',
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function kind(expected: string): string {
  return kinds[expected] ?? expected;
}

function yamlPath(path: readonly PropertyKey[]): YamlPath {
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

function mustBe(expected: string, given: unknown): string {
  return given === undefined ? `is missing; it must be ${expected}` : `must be ${expected}`;
}

function valueAt(plain: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), plain);
}

function isRecord(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}

type JsonSchema = z.core.JSONSchema.BaseSchema | boolean;

/** Names of the members the schema knows at a path, read from its JSON Schema because that is plain data. */
function knownMembers(schema: z.ZodType, path: YamlPath): readonly string[] {
  const root: JsonSchema = z.toJSONSchema(schema, { io: 'input' });
  return path.reduce<readonly JsonSchema[]>(stepInto, branches(root)).flatMap(memberNames);
}

function stepInto(nodes: readonly JsonSchema[], step: string | number): readonly JsonSchema[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'boolean') return [];
    const found =
      typeof step === 'number' ? node.items : (node.properties?.[step] ?? node.additionalProperties);
    return found === undefined || Array.isArray(found) ? [] : branches(found);
  });
}

function branches(node: JsonSchema): readonly JsonSchema[] {
  return typeof node === 'object' && node.anyOf !== undefined ? node.anyOf.flatMap(branches) : [node];
}

function memberNames(node: JsonSchema): readonly string[] {
  return typeof node === 'object' ? Object.keys(node.properties ?? {}) : [];
}
