import {
  type Ask,
  anyObjectSchema,
  countWords,
  type Message,
  type Tool,
  type ToolChoice,
  tokensPerOtherPart,
  unbroken,
} from '../answer/ask.ts';
import type { Conversations } from '../conversations.ts';
import { countOf, isRecord, type JsonRecord, listOf, recordOf, stringOf } from '../json.ts';
import type { AskResult } from '../protocol.ts';
import { complaintAbout, inputItems, isCallOutput, itemType } from './check-request.ts';

/** Reads a responses body, as strict as the vendor about items and their ids and lenient about unknown members. */
export function readAsk(
  model: string,
  request: JsonRecord,
  _path: string,
  earlier: Conversations,
): AskResult {
  const complaint = complaintAbout(request, earlier);
  if (complaint !== null) return { ok: false, complaint };
  const items = inputItems(request);
  const last = items.at(-1) ?? {};
  const instructions = stringOf(request['instructions']) ?? '';
  const ask: Ask = {
    model,
    stream: request['stream'] === true,
    wantsUsage: true,
    promptTokens: countWords(instructions) + conversationTokens(request, earlier),
    lastText: textsOf(last).join(' '),
    answersTool: isCallOutput(last),
    toolResults: items.filter(isCallOutput).length,
    tools: readTools(request),
    toolChoice: readToolChoice(request['tool_choice']),
    parallelCalls: request['parallel_tool_calls'] !== false,
    schema: readSchema(recordOf(recordOf(request['text'])['format'])),
    maxTokens: countOf(request['max_output_tokens']),
    choices: 1,
  };
  return {
    ok: true,
    ask: unbroken(
      ask,
      items.slice(-3).map((item) => messageOf(item, earlier)),
    ),
  };
}

function messageOf(item: JsonRecord, earlier: Conversations): Message {
  const text = textsOf(item).join(' ');
  return { isModel: item['role'] === 'assistant', text, tokens: itemTokens(item, earlier) };
}

function readSchema(format: JsonRecord): unknown {
  switch (format['type']) {
    case 'json_schema':
      return format['schema'];
    case 'json_object':
      return anyObjectSchema;
    default:
      return null;
  }
}

/** The words an item says to the model. */
function textsOf(item: JsonRecord): readonly string[] {
  const content = contentOf(item);
  if (typeof content === 'string') return [content];
  return listOf(content).flatMap((part) => textOfPart(recordOf(part)) ?? []);
}

/** The tokens of a whole conversation, instructions excluded: what went before and what is sent now. */
export function conversationTokens(request: JsonRecord, earlier: Conversations): number {
  const previous = earlier.turn(stringOf(request['previous_response_id']) ?? '');
  const answered = previous?.items.reduce((sum, item) => sum + item.tokens, 0) ?? 0;
  const sent = inputItems(request).reduce((sum, item) => sum + itemTokens(item, earlier), 0);
  return (previous?.tokensBefore ?? 0) + answered + sent;
}

function itemTokens(item: JsonRecord, earlier: Conversations): number {
  if (itemType(item) === 'item_reference') return earlier.item(stringOf(item['id']) ?? '')?.tokens ?? 0;
  const content = contentOf(item);
  if (typeof content === 'string') return countWords(content);
  return listOf(content).reduce<number>((sum, part) => sum + partTokens(recordOf(part)), 0);
}

/** Words of the text, and a fixed number for everything else. */
function partTokens(part: JsonRecord): number {
  const text = textOfPart(part);
  return text === null ? tokensPerOtherPart : countWords(text);
}

/** Calls and reasoning of earlier answers have none: they count nothing. */
function contentOf(item: JsonRecord): unknown {
  if (isCallOutput(item)) return item['output'];
  return itemType(item) === 'message' ? item['content'] : null;
}

function textOfPart(part: JsonRecord): string | null {
  return stringOf(part['text']) ?? stringOf(part['refusal']);
}

/** The tools a caller runs itself: functions and custom tools, in groups or not. Tools the vendor runs are not called. */
function readTools(request: JsonRecord): readonly Tool[] {
  const added = inputItems(request).filter((item) => itemType(item) === 'additional_tools');
  return [request, ...added].flatMap((place) => listOf(place['tools']).flatMap(readTool));
}

function readTool(value: unknown): readonly Tool[] {
  const tool = recordOf(value);
  const name = stringOf(tool['name']);
  if (name === null) return [];
  switch (tool['type']) {
    case 'function':
    case 'custom':
      return [{ kind: tool['type'], name, schema: tool['parameters'] ?? { type: 'object' } }];
    case 'namespace':
      return listOf(tool['tools'])
        .flatMap(readTool)
        .map((member) => ({ ...member, namespace: name }));
    default:
      return [];
  }
}

function readToolChoice(value: unknown): ToolChoice {
  if (value === 'none') return { kind: 'none' };
  if (value === 'required') return { kind: 'required' };
  if (!isRecord(value)) return { kind: 'auto' };
  const allowed = value['type'] === 'allowed_tools';
  if (allowed && value['mode'] !== 'required') return { kind: 'auto' };
  const name = stringOf((allowed ? recordOf(listOf(value['tools'])[0]) : value)['name']);
  return name === null ? { kind: 'auto' } : { kind: 'named', name };
}
