import type { Ask, Tool, ToolChoice } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { countOf, isRecord, listOf, recordOf, stringOf } from '../json.ts';
import type { AskResult } from '../protocol.ts';
import { contentsOf, partsOf, partTokens, promptParts, textOf } from './prompt.ts';
import { member } from './spelling.ts';

/** Reads a body of this protocol, in either spelling. `contents` is required; what the simulator does not use is not checked. */
export function readAsk(model: string, body: JsonRecord, stream: boolean): AskResult {
  const last = contentsOf(body).at(-1);
  if (last === undefined) return noContents;
  const config = recordOf(member(body, 'generationConfig'));
  const calling = recordOf(member(recordOf(member(body, 'toolConfig')), 'functionCallingConfig'));
  const ask: Ask = {
    model,
    stream,
    wantsUsage: true,
    promptTokens: promptParts(body).reduce((sum, part) => sum + partTokens(part), 0),
    lastText: partsOf(last)
      .flatMap((part) => textOf(part) ?? [])
      .join(' '),
    answersTool: partsOf(last).some(isToolResult),
    toolResults: promptParts(body).filter(isToolResult).length,
    tools: readTools(body, calling),
    toolChoice: readToolChoice(calling['mode']),
    parallelCalls: true,
    schema: readSchema(config),
    maxTokens: countOf(member(config, 'maxOutputTokens')),
    choices: countOf(member(config, 'candidateCount')) ?? 1,
  };
  return { ok: true, ask };
}

function isToolResult(part: JsonRecord): boolean {
  return member(part, 'functionResponse') !== undefined;
}

const noContents: AskResult = {
  ok: false,
  complaint: {
    status: 400,
    code: null,
    message: '* GenerateContentRequest.contents: contents is not specified',
    param: null,
  },
};

function readTools(body: JsonRecord, calling: JsonRecord): readonly Tool[] {
  const allowed = listOf(member(calling, 'allowedFunctionNames'));
  return listOf(body['tools'])
    .flatMap((tool) => listOf(member(recordOf(tool), 'functionDeclarations')))
    .flatMap((declaration) => readTool(recordOf(declaration)))
    .filter((tool) => allowed.length === 0 || allowed.includes(tool.name));
}

function readTool(declaration: JsonRecord): readonly Tool[] {
  const name = stringOf(declaration['name']);
  const schema = member(declaration, 'parametersJsonSchema') ?? declaration['parameters'];
  return name === null
    ? []
    : [{ kind: 'function', name, schema: withLowerTypes(schema ?? { type: 'object' }) }];
}

function readToolChoice(mode: unknown): ToolChoice {
  switch (mode) {
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      return { kind: 'required' };
    default:
      return { kind: 'auto' };
  }
}

function readSchema(config: JsonRecord): unknown {
  const schema = member(config, 'responseJsonSchema') ?? member(config, 'responseSchema');
  if (schema !== undefined) return withLowerTypes(schema);
  return member(config, 'responseMimeType') === 'application/json' ? { type: 'object' } : null;
}

/** This protocol spells the types of its own schemas in capitals (`OBJECT`), and JSON Schema does not. */
function withLowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withLowerTypes);
  if (!isRecord(schema)) return schema;
  const members = Object.entries(schema).map(([name, value]) => [
    name,
    name === 'type' && typeof value === 'string' ? value.toLowerCase() : withLowerTypes(value),
  ]);
  return Object.fromEntries(members);
}
