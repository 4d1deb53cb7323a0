import { fromNativeSchema } from '../translate/json-schema/native-schema.ts';
import { MemberReader, plainWord, type TurnNotes, textMembers } from '../translate/reading.ts';
import {
  type FunctionTool,
  noSettings,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningSetting,
  type ToolChoice,
  type Turn,
  type TurnSettingName,
  type TurnSettings,
} from '../turn.ts';
import { isRecord, listOf, stringOf, type WireRecord } from '../wire-values.ts';
import { elementsOf, inCamelCase, spelledBy } from './wire.ts';

/** Reads `generationConfig`, whose numbers may be texts, as in all of this protocol's JSON. */
class ConfigReader extends MemberReader {
  override number(name: string): number | null {
    const value = this.value(name);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (number === null || (typeof number === 'number' && Number.isFinite(number))) return number;
    this.blame(name, 'be a number');
    return null;
  }
}

/** All that a request sets beside its conversation. `members`: of the request, in camelCase. */
export function readSettings(members: WireRecord, notes: TurnNotes): TurnSettings {
  const config = new ConfigReader(inCamelCase(members['generationConfig']), notes, 'generationConfig.');
  noteConfigMembers(config.wire, members['generationConfig'], notes);
  return {
    ...noSettings,
    // Zero is what a number is that has not been set.
    maxOutputTokens: config.number('maxOutputTokens') || null,
    temperature: config.number('temperature'),
    topP: config.number('topP'),
    topK: config.number('topK'),
    stop: config.texts('stopSequences'),
    seed: config.number('seed'),
    presencePenalty: config.number('presencePenalty'),
    frequencyPenalty: config.number('frequencyPenalty'),
    logprobs: config.value('responseLogprobs') === true ? (config.number('logprobs') ?? 0) : null,
    choices: config.number('candidateCount') || null,
    reasoning: readThinking(config.value('thinkingConfig'), notes),
    outputFormat: readFormat(config.wire, notes),
    serviceTier: readTier(members['serviceTier']),
    metadata: textMembers(members['labels']),
  };
}

const configNames = {
  maxOutputTokens: 'maxOutputTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  stop: 'stopSequences',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  logprobs: 'responseLogprobs',
  choices: 'candidateCount',
  reasoning: 'thinkingConfig',
} as const satisfies Partial<Record<TurnSettingName, string>>;

const formatNames = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema', 'responseMimeType'];

/** The settings as the caller spells them. `wire`: the request as it came. */
export function readSpelling(wire: WireRecord): Turn['spelling'] {
  const config = spelledBy(wire, 'generationConfig');
  const spelled = (name: string) => `${config}.${spelledBy(wire[config], name)}`;
  const entries = Object.entries(configNames).map(([name, own]) => [name, spelled(own)] as const);
  const formatName = formatNames.find((name) => inCamelCase(wire[config])[name] !== undefined);
  return {
    ...Object.fromEntries(entries),
    outputFormat: spelled(formatName ?? 'responseMimeType'),
    serviceTier: spelledBy(wire, 'serviceTier'),
    metadata: 'labels',
  };
}

/** Members that have a place in a turn or beside another one. */
const unified: ReadonlySet<string> = new Set([
  ...Object.values(configNames),
  ...formatNames,
  'logprobs',
  'mediaResolution',
]);

function noteConfigMembers(config: WireRecord, wire: unknown, notes: TurnNotes): void {
  for (const [name, value] of Object.entries(config)) {
    if (value === null || unified.has(name)) continue;
    const field = `generationConfig.${plainWord(spelledBy(wire, name))}`;
    if (name === 'responseModalities') noteModalities(value, field, notes);
    else notes.lose(field);
  }
}

/** Pictures and sound are not what other protocols answer with. */
function noteModalities(value: unknown, field: string, notes: TurnNotes): void {
  const modalities = Array.isArray(value) ? value : [value];
  const isText = modalities.every((modality) => typeof modality === 'string' && /^text$/i.test(modality));
  if (!isText) notes.insist(field);
}

const levels: ReadonlyMap<string, ReasoningEffort | null> = new Map([
  ['THINKING_LEVEL_UNSPECIFIED', null],
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
]);

function readThinking(wire: unknown, notes: TurnNotes): ReasoningSetting | null {
  if (!isRecord(wire)) return null;
  const config = new ConfigReader(inCamelCase(wire), notes, 'generationConfig.thinkingConfig.');
  const budget = config.number('thinkingBudget');
  const level = stringOf(config.value('thinkingLevel'))?.toUpperCase() ?? 'THINKING_LEVEL_UNSPECIFIED';
  const effort = levels.get(level);
  if (effort === undefined) config.blame('thinkingLevel', 'be MINIMAL, LOW, MEDIUM or HIGH');
  return {
    effort: budget === 0 ? 'none' : (effort ?? null),
    // Less than nothing leaves it to the model.
    budgetTokens: budget !== null && budget > 0 ? budget : null,
    shown: config.value('includeThoughts') === true,
    ...(budget !== null && budget < 0 ? { isOn: true as const } : {}),
  };
}

function readFormat(config: WireRecord, notes: TurnNotes): OutputFormat | null {
  const mimeType = stringOf(config['responseMimeType']) ?? '';
  const schema = schemaOf(config);
  if (mimeType === 'text/x.enum') {
    // The bare word is asked for, where others would give it in quotes.
    notes.insist('generationConfig.responseMimeType');
    return null;
  }
  if (schema !== null)
    return { kind: 'json-schema', name: schemaName(schema), description: null, schema, strict: null };
  return mimeType === 'application/json' ? { kind: 'json' } : null;
}

function schemaOf(config: WireRecord): WireRecord | null {
  const jsonSchema = config['responseJsonSchema'] ?? config['_responseJsonSchema'];
  if (isRecord(jsonSchema)) return jsonSchema;
  const own = config['responseSchema'];
  return isRecord(own) ? fromNativeSchema(own) : null;
}

/** Other protocols want a name, and this one has none but a title. */
function schemaName(schema: WireRecord): string | null {
  const title = stringOf(schema['title']) ?? '';
  return title === '' ? null : title;
}

/** Case does not matter to clients, some of which write the enum's whole name. */
function readTier(wire: unknown): TurnSettings['serviceTier'] {
  switch (
    stringOf(wire)
      ?.toLowerCase()
      .replace(/^service_tier_/, '')
  ) {
    case 'standard':
      return 'default';
    case 'flex':
      return 'flex';
    case 'priority':
      return 'priority';
    default:
      return null;
  }
}

/** `members`: of the request, in camelCase. */
export function readTools(members: WireRecord, notes: TurnNotes): Pick<Turn, 'tools' | 'toolChoice'> {
  const config = inCamelCase(members['toolConfig']);
  const calling = inCamelCase(config['functionCallingConfig']);
  const isStrict = calling['mode'] === 'VALIDATED';
  const groups = elementsOf(members['tools']).map(inCamelCase);
  const tools = groups.flatMap(({ functionDeclarations }) =>
    elementsOf(functionDeclarations).map((tool) => readFunction(inCamelCase(tool), isStrict, notes)),
  );
  noteHosted(groups, tools.length > 0, notes);
  for (const [name, value] of Object.entries(config))
    if ((isRecord(value) || value === true) && name !== 'functionCallingConfig')
      notes.lose(`toolConfig.${plainWord(name)}`);
  if (calling['streamFunctionCallArguments'] === true)
    notes.lose('toolConfig.functionCallingConfig.streamFunctionCallArguments');
  return { tools, toolChoice: readChoice(calling, notes) };
}

function readFunction(tool: WireRecord, isStrict: boolean, notes: TurnNotes): FunctionTool {
  for (const name of ['behavior', 'response', 'responseJsonSchema'])
    if (tool[name] !== undefined && tool[name] !== null) notes.lose(`tools[].functionDeclarations[].${name}`);
  return {
    kind: 'function',
    name: stringOf(tool['name']) ?? '',
    namespace: null,
    description: stringOf(tool['description']) ?? '',
    parameters: readParameters(tool),
    strict: isStrict ? true : null,
    cacheTtl: null,
  };
}

/** JSON Schema itself, or this protocol's own dialect of it. */
function readParameters({ parameters, parametersJsonSchema }: WireRecord): WireRecord | null {
  if (isRecord(parametersJsonSchema)) return parametersJsonSchema;
  return isRecord(parameters) ? fromNativeSchema(parameters) : null;
}

/** Tools the vendor runs itself: with functions beside them the model can do without. */
function noteHosted(groups: readonly WireRecord[], hasFunctions: boolean, notes: TurnNotes): void {
  for (const name of groups.flatMap((group) => Object.keys(group))) {
    if (name === 'functionDeclarations') continue;
    if (hasFunctions) notes.lose(`tools[].${plainWord(name)}`);
    else notes.insist(`tools[].${plainWord(name)}`);
  }
}

function readChoice(calling: WireRecord, notes: TurnNotes): ToolChoice | null {
  const names = listOf(calling['allowedFunctionNames']).filter((name) => typeof name === 'string');
  const mode = calling['mode'] ?? 'MODE_UNSPECIFIED';
  switch (typeof mode === 'string' ? mode.toUpperCase() : mode) {
    case 'MODE_UNSPECIFIED':
      return null;
    case 'AUTO':
    case 'VALIDATED':
      return names.length > 0 ? { kind: 'allowed', mode: 'auto', names } : { kind: 'auto' };
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      return requiredChoice(names);
    default: {
      const place = 'toolConfig.functionCallingConfig.mode';
      notes.blame(place, 'must be AUTO, ANY, NONE or VALIDATED');
      return null;
    }
  }
}

function requiredChoice(names: readonly string[]): ToolChoice {
  const [only, ...others] = names;
  if (only === undefined) return { kind: 'required' };
  return others.length === 0 ? { kind: 'named', name: only } : { kind: 'allowed', mode: 'required', names };
}
