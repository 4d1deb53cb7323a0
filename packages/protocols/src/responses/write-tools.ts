import { unreachable } from '../result.ts';
import { enforce } from '../translate/json-schema/strict-schema.ts';
import { legalName, type NameRule, type ToolNaming } from '../translate/tools.ts';
import type { CustomTool, FunctionTool, Surface, Tool, ToolChoice, Turn } from '../turn.ts';
import { isRecord, type WireRecord } from '../wire-values.ts';

/** Names of tools and formats. */
export const nameRule: NameRule = { legal: /^[a-zA-Z0-9_-]$/, legalFirst: /^[a-zA-Z0-9_-]$/, lengthMax: 64 };

/** How tools are named where they are written. */
export type NameOf = (tool: Pick<Tool, 'name' | 'namespace'>) => string;

/** Names for an upstream: those in a namespace keep theirs, which this protocol has too. */
export function upstreamNames(naming: ToolNaming): NameOf {
  return (tool) => (tool.namespace === null ? naming.sent(tool) : legalName(tool.name, nameRule));
}

/** The caller's own names. */
export const callerNames: NameOf = ({ name }) => name;

/** The tools, each namespace where its first tool stands. */
export function writeTools(
  { tools, surface }: Pick<Turn, 'tools' | 'surface'>,
  nameOf: NameOf,
): readonly object[] {
  const written: object[] = [];
  const groups = new Map<string, object[]>();
  for (const tool of tools) {
    const { namespace } = tool;
    const place = namespace === null ? written : groupOf(namespace, groups, written);
    place.push(writeTool(tool, nameOf(tool), surface));
  }
  return written;
}

function groupOf(namespace: string, groups: Map<string, object[]>, written: object[]): object[] {
  const known = groups.get(namespace);
  if (known !== undefined) return known;
  const tools: object[] = [];
  groups.set(namespace, tools);
  written.push({ type: 'namespace', name: namespace, description: '', tools });
  return tools;
}

function writeTool(tool: Tool, name: string, surface: Surface): object {
  return tool.kind === 'custom' ? writeCustom(tool, name) : writeFunction(tool, name, surface);
}

/** `strict` is always said: left out, it is true here and false in every other protocol. */
function writeFunction(tool: FunctionTool, name: string, surface: Surface): object {
  const { description } = tool;
  const { schema: parameters, strict } = enforce(
    { schema: tool.parameters ?? { type: 'object', properties: {} }, strict: tool.strict ?? false },
    surface,
  );
  return { type: 'function', name, description, parameters, strict };
}

function writeCustom({ description, format }: CustomTool, name: string): object {
  return { type: 'custom', name, description, ...(format === null ? {} : { format: flatFormat(format) }) };
}

/** A grammar: its syntax and definition stand in the format itself here, and one level deeper in chat completions. */
function flatFormat(format: WireRecord): WireRecord {
  const { grammar, ...rest } = format;
  return isRecord(grammar) ? { ...rest, ...grammar } : format;
}

export function writeToolChoice(choice: ToolChoice, tools: readonly Tool[], nameOf: NameOf): unknown {
  switch (choice.kind) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.kind;
    case 'named':
      return reference(choice.name, tools, nameOf);
    case 'allowed': {
      const allowed = choice.names.map((name) => reference(name, tools, nameOf));
      return { type: 'allowed_tools', mode: choice.mode, tools: allowed };
    }
    default:
      return unreachable(choice);
  }
}

/** A choice names a tool without its namespace. */
function reference(name: string, tools: readonly Tool[], nameOf: NameOf): object {
  const tool = tools.find((known) => known.name === name);
  return { type: tool?.kind ?? 'function', name: nameOf(tool ?? { name, namespace: null }) };
}
