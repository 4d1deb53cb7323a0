import { objectSchema, tellArguments } from '../translate/json-schema/object-schema.ts';
import { structuredSchema } from '../translate/json-schema/strict-schema.ts';
import type { WriteNotes } from '../translate/notes.ts';
import { customAsFunction, customToolLosses, type NameRule, type ToolNaming } from '../translate/tools.ts';
import type { FunctionTool, Surface, Tool, ToolChoice, Turn } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import type { CacheBreakpoints } from './wire.ts';

/** All that the parts of one request are written with. */
export interface WriteContext {
  /** The caller's protocol, in whose words losses are told. */
  readonly surface: Surface;
  readonly naming: ToolNaming;
  readonly breakpoints: CacheBreakpoints;
  readonly notes: WriteNotes;
}

export const toolNameRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 128 };

/** `tools` and `tool_choice`. A conversation with calls in it needs their tools, though nothing may be called any more. */
export function writeTools(turn: Turn, context: WriteContext): WireRecord {
  const tools = allowedTools(turn, context.notes);
  context.notes.add(
    customToolLosses(
      tools.filter((tool) => tool.kind === 'custom'),
      'tools[].format',
    ),
  );
  if (tools.length > 0) {
    return { tools: tools.map((tool) => writeTool(tool, context)), ...writeToolChoice(turn, context) };
  }
  const called = calledNames(turn, context.naming);
  if (called.length === 0) return {};
  return { tools: called.map(remembered), tool_choice: { type: 'none' } };
}

/** This protocol has no choice among some of the tools: only those are sent. */
function allowedTools({ surface, tools, toolChoice }: Turn, notes: WriteNotes): readonly Tool[] {
  if (toolChoice?.kind !== 'allowed') return tools;
  notes.change(surface.toolChoice, 'only the allowed tools are sent');
  return tools.filter(({ name }) => toolChoice.names.includes(name));
}

function writeTool(tool: Tool, context: WriteContext): WireRecord {
  switch (tool.kind) {
    case 'function':
      return writeFunction(tool, context);
    case 'custom':
      return writeFunction(customAsFunction(tool), context);
  }
}

function writeFunction(tool: FunctionTool, { naming, breakpoints, notes }: WriteContext): WireRecord {
  const { schema, words } = tellArguments(objectSchema(tool.parameters));
  if (words !== '') notes.change('tools', 'arguments with names that are not taken, told in words');
  const description = [tool.description, words].filter((text) => text !== '').join('\n\n');
  return {
    name: naming.sent(tool),
    ...(description === '' ? {} : { description }),
    // Strictness would forbid what is told in words only.
    ...(tool.strict === true && words === ''
      ? { input_schema: structuredSchema(schema).schema, strict: true }
      : { input_schema: schema }),
    ...breakpoints.write(tool.cacheTtl),
  };
}

function calledNames({ messages }: Turn, naming: ToolNaming): readonly string[] {
  const calls = messages.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-call'));
  return [...new Set(calls.map((call) => naming.sent(call)))];
}

function remembered(name: string): WireRecord {
  return { name, input_schema: { type: 'object', properties: {} } };
}

function writeToolChoice(turn: Turn, { naming }: WriteContext): WireRecord {
  const isSerial = turn.settings.parallelToolCalls === false;
  const { toolChoice } = turn;
  if (toolChoice === null && !isSerial) return {};
  const choice = choiceOf(toolChoice ?? { kind: 'auto' }, naming);
  const isNone = toolChoice?.kind === 'none';
  return { tool_choice: isSerial && !isNone ? { ...choice, disable_parallel_tool_use: true } : choice };
}

function choiceOf(choice: ToolChoice, naming: ToolNaming): WireRecord {
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind };
    case 'required':
      return { type: 'any' };
    case 'named':
      return { type: 'tool', name: naming.sentByName(choice.name) };
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' };
  }
}
