import { unreachable } from '../result.ts';
import { toNativeSchema } from '../translate/json-schema/native-schema.ts';
import { findObstacle, nativeLimits } from '../translate/json-schema/obstacles.ts';
import { customAsFunction, customToolLosses, type NameRule, type ToolNaming } from '../translate/tools.ts';
import type { TurnWriting } from '../translate/writing.ts';
import type { Tool, ToolChoice } from '../turn.ts';
import { recordOf, type WireRecord, wordSet } from '../wire-values.ts';
import { generationOf } from './wire.ts';

/** Names of functions; the vendor takes 128 characters by now, older servers fewer. */
export const nameRule: NameRule = { legal: /^[\w.:-]$/, legalFirst: /^[a-zA-Z_]$/, lengthMax: 64 };

/** How tools are used is only said where there are any. */
export function writeToolMembers(writing: TurnWriting): object {
  const { turn, target, naming } = writing;
  const { tools, toolChoice } = turn;
  if (tools.length === 0) return {};
  writing.lose(customToolLosses(tools));
  const { knowsJsonSchema } = generationOf(target.upstreamModel);
  const functionDeclarations = tools.map((tool) => {
    if (!knowsJsonSchema) refuseUnsaid(writing, tool);
    return writeTool(tool, naming.sent(tool), knowsJsonSchema);
  });
  const isStrict = knowsJsonSchema && tools.every((tool) => tool.kind === 'function' && tool.strict === true);
  const functionCallingConfig = writeChoice(toolChoice, naming, isStrict);
  return {
    tools: [{ functionDeclarations }],
    ...(functionCallingConfig === null ? {} : { toolConfig: { functionCallingConfig } }),
  };
}

/** Older models would be held to other arguments than a strict tool's; any other tool's are as near to it as can be said. */
function refuseUnsaid(writing: TurnWriting, tool: Tool): void {
  const parameters = tool.kind === 'function' ? tool.parameters : null;
  const obstacle = parameters === null ? null : findObstacle(parameters, nativeLimits);
  if (
    tool.kind === 'custom' ||
    obstacle === null ||
    (obstacle === 'properties' && parameters !== null && isEmptyObject(parameters))
  )
    return;
  if (tool.strict === true)
    writing.refuse(
      'tools[].strict',
      `\`${obstacle}\` of the tool ${tool.name} cannot be said there: write it otherwise, or ask without it`,
    );
  else writing.change('tools[].parameters', `without ${obstacle}`);
}

function writeTool(tool: Tool, name: string, knowsJsonSchema: boolean): object {
  const { description, parameters } = tool.kind === 'custom' ? customAsFunction(tool) : tool;
  return {
    name,
    ...(description === '' ? {} : { description }),
    ...(parameters === null ? {} : writeParameters(parameters, knowsJsonSchema)),
  };
}

/** An object without properties is refused by older models: no parameters say the same. */
function writeParameters(parameters: WireRecord, knowsJsonSchema: boolean): object {
  if (isEmptyObject(parameters)) return {};
  return knowsJsonSchema ? { parametersJsonSchema: parameters } : { parameters: toNativeSchema(parameters) };
}

function isEmptyObject(schema: WireRecord): boolean {
  const hasProperties = Object.keys(recordOf(schema['properties'])).length > 0;
  const isOpen = (schema['additionalProperties'] ?? false) !== false;
  return !hasProperties && !isOpen && Object.keys(schema).every((name) => emptyKeywords.has(name));
}

const emptyKeywords = wordSet('$schema type properties required additionalProperties');

/** `VALIDATED`: the model is free to call or not, and held to the schemas when it does. */
function writeChoice(choice: ToolChoice | null, naming: ToolNaming, isStrict: boolean): object | null {
  if (choice === null) return isStrict ? { mode: 'VALIDATED' } : null;
  switch (choice.kind) {
    case 'auto':
      return { mode: isStrict ? 'VALIDATED' : 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'named':
      return { mode: 'ANY', allowedFunctionNames: [naming.sentByName(choice.name)] };
    case 'allowed': {
      const allowedFunctionNames = choice.names.map((name) => naming.sentByName(name));
      return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
    }
    default:
      return unreachable(choice);
  }
}
