import type { TranslationTarget } from '../codec.ts';
import { objectSchema, tellArguments } from '../translate/json-schema/object-schema.ts';
import { findObstacle, structuredToolLimits } from '../translate/json-schema/obstacles.ts';
import { structuredSchema } from '../translate/json-schema/strict-schema.ts';
import { customAsFunction, customToolLosses, type NameRule, type ToolNaming } from '../translate/tools.ts';
import { TurnWriting } from '../translate/writing.ts';
import type { FunctionTool, Tool, ToolChoice, Turn } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { CacheBreakpoints } from './wire.ts';

const toolNameRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 128 };

/** One request while it is written, with the places up to which its prompt is cached. */
export class MessagesWriting extends TurnWriting {
  readonly breakpoints: CacheBreakpoints;

  constructor(turn: Turn, target: TranslationTarget) {
    super(turn, target, toolNameRule);
    this.breakpoints = new CacheBreakpoints(turn);
  }
}

/** `tools` and `tool_choice`. A conversation with calls in it needs their tools, though nothing may be called any more. */
export function writeTools(writing: MessagesWriting): WireRecord {
  const tools = allowedTools(writing);
  writing.lose(customToolLosses(tools));
  if (tools.length > 0)
    return { tools: tools.map((tool) => writeTool(tool, writing)), ...writeToolChoice(writing) };
  const called = calledNames(writing);
  if (called.length === 0) return {};
  return { tools: called.map(remembered), tool_choice: { type: 'none' } };
}

/** This protocol has no choice among some of the tools: only those are sent. */
function allowedTools(writing: MessagesWriting): readonly Tool[] {
  const { surface, tools, toolChoice } = writing.turn;
  if (toolChoice?.kind !== 'allowed') return tools;
  writing.change(surface.toolChoice, 'only the allowed tools are sent');
  return tools.filter(({ name }) => toolChoice.names.includes(name));
}

function writeTool(given: Tool, writing: MessagesWriting): WireRecord {
  const tool: FunctionTool = given.kind === 'custom' ? customAsFunction(given) : given;
  const { schema, words } = tellArguments(objectSchema(tool.parameters));
  if (words !== '') writing.change('tools', 'arguments with names that are not taken, told in words');
  const description = [tool.description, words].filter((text) => text !== '').join('\n\n');
  return {
    name: writing.naming.sent(tool),
    ...(description === '' ? {} : { description }),
    // Strictness would forbid what is told in words only.
    ...(isEnforced(tool, schema, words, writing)
      ? { input_schema: structuredSchema(schema).schema, strict: true }
      : { input_schema: schema }),
    ...writing.breakpoints.write(tool.cacheTtl),
  };
}

/** Strictness that would change what the schema means is asked for in vain. */
function isEnforced(
  { strict }: FunctionTool,
  schema: WireRecord,
  words: string,
  writing: MessagesWriting,
): boolean {
  if (strict !== true || words !== '') return false;
  if (findObstacle(schema, structuredToolLimits) === null) return true;
  writing.change('tools[].strict', 'asked for, but not enforced');
  return false;
}

function calledNames({ turn, naming }: MessagesWriting): readonly string[] {
  const calls = turn.messages.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-call'));
  return [...new Set(calls.map((call) => naming.sent(call)))];
}

function remembered(name: string): WireRecord {
  return { name, input_schema: { type: 'object', properties: {} } };
}

function writeToolChoice({ turn, naming }: MessagesWriting): WireRecord {
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
