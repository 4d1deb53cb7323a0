import type { Ask, Message, Tool, ToolChoice } from '../answer/ask.ts';
import { anyObjectSchema, countWords, tokensPerOtherPart, unbroken } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { countOf, isRecord, listOf, recordOf, stringOf } from '../json.ts';
import { type AskResult, missing } from '../protocol.ts';

const choicesMax = 128;

/** Reads a chat-completions body. Only `messages` is required; what the simulator does not use is not checked. */
export function readAsk(model: string, body: JsonRecord): AskResult {
  const messages = body['messages'];
  if (!Array.isArray(messages) || messages.length === 0) return { ok: false, complaint: missing('messages') };
  const list = messages.map(recordOf);
  const last = list.at(-1) ?? {};
  const ask: Ask = {
    model,
    stream: body['stream'] === true,
    wantsUsage: recordOf(body['stream_options'])['include_usage'] === true,
    promptTokens: list.reduce((sum, message) => sum + contentTokens(message['content']), 0),
    lastText: textsOf(last['content']).join(' '),
    answersTool: last['role'] === 'tool',
    toolResults: list.filter((message) => message['role'] === 'tool').length,
    tools: listOf(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(body['tool_choice']),
    parallelCalls: body['parallel_tool_calls'] !== false,
    schema: readSchema(recordOf(body['response_format'])),
    maxTokens: countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']),
    choices: Math.min(Math.max(countOf(body['n']) ?? 1, 1), choicesMax),
  };
  return { ok: true, ask: unbroken(ask, list.slice(-3).map(messageOf)) };
}

function messageOf({ role, content }: JsonRecord): Message {
  return { isModel: role === 'assistant', text: textsOf(content).join(' '), tokens: contentTokens(content) };
}

/** Words of the text, and a fixed number for every part that is not text. */
function contentTokens(content: unknown): number {
  const words = textsOf(content).reduce((sum, text) => sum + countWords(text), 0);
  const otherParts = listOf(content).filter((part) => textOfPart(part) === null).length;
  return words + otherParts * tokensPerOtherPart;
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  return listOf(content)
    .map(textOfPart)
    .filter((text) => text !== null);
}

function textOfPart(part: unknown): string | null {
  const record = recordOf(part);
  return stringOf(record['text']) ?? stringOf(record['refusal']);
}

function readTool(value: unknown): readonly Tool[] {
  const tool = recordOf(value);
  const kind = tool['type'] === 'custom' ? 'custom' : 'function';
  const definition = recordOf(tool[kind]);
  const name = stringOf(definition['name']);
  if (name === null) return [];
  return [{ kind, name, schema: definition['parameters'] ?? { type: 'object' } }];
}

function readToolChoice(value: unknown): ToolChoice {
  if (value === 'none') return { kind: 'none' };
  if (value === 'required') return { kind: 'required' };
  if (!isRecord(value)) return { kind: 'auto' };
  const allowed = recordOf(value['allowed_tools']);
  const named = recordOf(
    value['function'] ?? value['custom'] ?? recordOf(listOf(allowed['tools'])[0])['function'],
  );
  const name = stringOf(named['name']);
  return name === null ? { kind: 'auto' } : { kind: 'named', name };
}

function readSchema(format: JsonRecord): unknown {
  switch (format['type']) {
    case 'json_schema':
      return recordOf(format['json_schema'])['schema'] ?? { type: 'object' };
    case 'json_object':
      return anyObjectSchema;
    default:
      return null;
  }
}
