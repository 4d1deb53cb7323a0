import { unreachable } from '../result.ts';
import { enforce } from '../translate/json-schema/strict-schema.ts';
import { customAsFunction, customToolLosses } from '../translate/tools.ts';
import type { CustomTool, FunctionTool, Tool, ToolChoice } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import type { ChatWriting } from './write-settings.ts';

/** `tools` and what goes with them; nothing where there are none, since the choice alone is refused. */
export function writeTools(writing: ChatWriting): WireRecord {
  const { turn, knowsAll } = writing;
  const tools = knowsAll ? turn.tools : allowedTools(writing);
  if (tools.length === 0) return {};
  if (!knowsAll) writing.lose(customToolLosses(tools));
  return {
    tools: tools.map((tool) => writeTool(writing, tool)),
    tool_choice: turn.toolChoice === null ? undefined : writeChoice(writing, turn.toolChoice),
    parallel_tool_calls: writing.isOwn
      ? (turn.settings.parallelToolCalls ?? undefined)
      : turn.settings.parallelToolCalls === false
        ? false
        : undefined,
  };
}

/** Not every server has a choice among some of the tools: only those are sent. */
function allowedTools(writing: ChatWriting): readonly Tool[] {
  const { surface, tools, toolChoice } = writing.turn;
  if (toolChoice?.kind !== 'allowed') return tools;
  writing.change(surface.toolChoice, 'only the allowed tools are sent');
  return tools.filter(({ name }) => toolChoice.names.includes(name));
}

function writeTool(writing: ChatWriting, tool: Tool): WireRecord {
  switch (tool.kind) {
    case 'function':
      return writeFunction(writing, tool);
    case 'custom':
      return writing.knowsAll ? writeCustom(writing, tool) : writeFunction(writing, customAsFunction(tool));
    default:
      return unreachable(tool);
  }
}

function writeFunction(writing: ChatWriting, tool: FunctionTool): WireRecord {
  const described = {
    name: writing.naming.sent(tool),
    description: tool.description === '' ? undefined : tool.description,
  };
  return {
    type: 'function',
    function: { ...described, ...writeParameters(writing, tool) },
  };
}

/** Servers insist on parameters, and on properties of theirs, if only on none. */
function writeParameters(writing: ChatWriting, { parameters, strict }: FunctionTool): WireRecord {
  if (writing.isOwn) return { parameters: parameters ?? undefined, strict: strict ?? undefined };
  const schema = { type: 'object', properties: {}, ...parameters };
  const enforced = enforce({ schema, strict: strict === true }, writing.turn.surface);
  if (strict === true && !enforced.strict) writing.change('tools[].strict', 'asked for, but not enforced');
  return { parameters: enforced.schema, strict: enforced.strict ? true : undefined };
}

function writeCustom({ naming }: ChatWriting, tool: CustomTool): WireRecord {
  return {
    type: 'custom',
    custom: {
      name: naming.sent(tool),
      description: tool.description === '' ? undefined : tool.description,
      format: tool.format === null ? undefined : nestedGrammar(tool.format),
    },
  };
}

/** A grammar has an object of its own here; elsewhere its members stand beside the type. */
function nestedGrammar(format: WireRecord): WireRecord {
  const { type, grammar, ...rest } = format;
  return type === 'grammar' && grammar === undefined ? { type, grammar: rest } : format;
}

function writeChoice(writing: ChatWriting, choice: ToolChoice): unknown {
  switch (choice.kind) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.kind;
    case 'named':
      return namedTool(writing, choice.name);
    case 'allowed':
      return writing.knowsAll ? writeAllowed(writing, choice) : choice.mode;
    default:
      return unreachable(choice);
  }
}

function writeAllowed(writing: ChatWriting, choice: Extract<ToolChoice, { kind: 'allowed' }>): WireRecord {
  const tools = choice.names.map((name) => namedTool(writing, name));
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools } };
}

function namedTool({ turn, naming, knowsAll }: ChatWriting, name: string): WireRecord {
  const isCustomTool = knowsAll && turn.tools.some((tool) => tool.name === name && tool.kind === 'custom');
  const type = isCustomTool ? 'custom' : 'function';
  return { type, [type]: { name: naming.sentByName(name) } };
}
