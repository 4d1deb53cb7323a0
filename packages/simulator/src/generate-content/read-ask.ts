import {
  type Ask,
  countWords,
  type Message,
  type Tool,
  type ToolChoice,
  tokensPerOtherPart,
  unbroken,
} from '../answer/ask.ts';
import { countOf, isRecord, type JsonRecord, listOf, recordOf, stringOf } from '../json.ts';
import { type AskResult, badRequest } from '../protocol.ts';

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
  return { ok: true, ask: unbroken(ask, contentsOf(body).slice(-3).map(messageOf)) };
}

function messageOf(content: JsonRecord): Message {
  const parts = partsOf(content);
  return {
    isModel: member(content, 'role') === 'model',
    text: parts.flatMap((part) => textOf(part) ?? []).join(' '),
    tokens: parts.reduce((sum, part) => sum + partTokens(part), 0),
  };
}

function isToolResult(part: JsonRecord): boolean {
  return member(part, 'functionResponse') !== undefined;
}

const noContents: AskResult = {
  ok: false,
  complaint: badRequest(null, null, '* GenerateContentRequest.contents: contents is not specified'),
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

export type Modality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';

/** The part of a prompt that counts, in the order it was sent: the system's first. */
export function promptParts(body: JsonRecord): readonly JsonRecord[] {
  return [recordOf(member(body, 'systemInstruction')), ...contentsOf(body)].flatMap(partsOf);
}

/** The turns of a prompt, or what is to be embedded in their place. */
function contentsOf(body: JsonRecord): readonly JsonRecord[] {
  const requests = listOf(body['requests']).map((request) => recordOf(request)['content']);
  const single = body['content'] === undefined ? [] : [body['content']];
  return [...listOf(body['contents']), ...requests, ...single].map(recordOf);
}

export function partsOf(content: JsonRecord): readonly JsonRecord[] {
  return listOf(content['parts']).map(recordOf);
}

/** Words of text and of a tool's result; nothing for what the model said before beside it; a fixed number for media. */
export function partTokens(part: JsonRecord): number {
  if (part['thought'] === true || member(part, 'functionCall') !== undefined) return 0;
  const text = textOf(part);
  return text === null ? tokensPerOtherPart : countWords(text);
}

/** The text of a part, or the result a tool gave as JSON; null for media. */
export function textOf(part: JsonRecord): string | null {
  const result = member(part, 'functionResponse');
  return stringOf(part['text']) ?? (result === undefined ? null : resultText(recordOf(result)['response']));
}

/** A result is an object, by convention with its text under `output`. */
function resultText(response: unknown): string {
  const { output, result } = recordOf(response);
  return stringOf(output) ?? stringOf(result) ?? JSON.stringify(response ?? {});
}

export function modalityOf(part: JsonRecord): Modality {
  if (textOf(part) !== null) return 'TEXT';
  const data = recordOf(member(part, 'inlineData') ?? member(part, 'fileData'));
  const [type = ''] = (stringOf(member(data, 'mimeType')) ?? '').split('/');
  switch (type) {
    case 'image':
      return 'IMAGE';
    case 'audio':
      return 'AUDIO';
    case 'video':
      return 'VIDEO';
    default:
      return 'DOCUMENT';
  }
}

/** A member under its name in camel case, or under the same name in snake case: this protocol reads both. */
export function member(record: JsonRecord, name: string): unknown {
  return record[name] ?? record[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}
