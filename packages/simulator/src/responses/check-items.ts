import type { Conversations } from '../conversations.ts';
import type { JsonRecord } from '../json.ts';
import { listOf, recordOf, stringOf } from '../json.ts';
import type { Complaint } from '../protocol.ts';
import { badRequest, nameComplaint } from './complaints.ts';
import { inputItems, isCallOutput, itemType } from './input-items.ts';

/** The first item the vendor would refuse, by itself or for what it goes with; null when there is none. */
export function complaintAboutItems(request: JsonRecord, earlier: Conversations): Complaint | null {
  const items = inputItems(request);
  for (const [index, item] of items.entries()) {
    const complaint = complaintAboutItem(item, `input[${index}]`, earlier);
    if (complaint !== null) return complaint;
  }
  return loneReasoning(items) ?? unpairedCalls(items, callsOfPrevious(request, earlier), earlier);
}

function complaintAboutItem(item: JsonRecord, place: string, earlier: Conversations): Complaint | null {
  switch (itemType(item)) {
    case 'item_reference':
      return unknownReference(stringOf(item['id']) ?? '', earlier);
    case 'message':
      return foreignId(item, place, 'msg') ?? foreignContent(item, place);
    case 'reasoning':
      return foreignId(item, place, 'rs');
    case 'function_call':
      return (
        foreignId(item, place, 'fc') ??
        nameComplaint(stringOf(item['name']) ?? '', place) ??
        longCallId(item, place)
      );
    case 'custom_tool_call':
      return foreignId(item, place, 'ctc') ?? longCallId(item, place);
    default:
      return isCallOutput(item) ? longCallId(item, place) : null;
  }
}

function unknownReference(id: string, earlier: Conversations): Complaint | null {
  if (earlier.item(id) !== undefined) return null;
  return { ...badRequest(null, 'input', `Item with id '${id}' not found.`), status: 404 };
}

function foreignId(item: JsonRecord, place: string, prefix: string): Complaint | null {
  const id = stringOf(item['id']);
  if (id === null || id.startsWith(prefix)) return null;
  const message = `Invalid '${place}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
  return badRequest('invalid_value', `${place}.id`, message);
}

/** What the model said has its own kinds of content. */
function foreignContent({ role, content }: JsonRecord, place: string): Complaint | null {
  const index = listOf(content).findIndex((part) => {
    const type = stringOf(recordOf(part)['type']) ?? '';
    return type.startsWith('input_') === (role === 'assistant');
  });
  if (index < 0) return null;
  const supported =
    role === 'assistant' ? "'output_text' and 'refusal'" : "'input_text', 'input_image' and 'input_file'";
  const message = `Invalid value: '${stringOf(recordOf(listOf(content)[index])['type'])}'. Supported values are: ${supported}.`;
  return badRequest('invalid_value', `${place}.content[${index}]`, message);
}

const callIdCharactersMax = 64;

function longCallId(item: JsonRecord, place: string): Complaint | null {
  const { length } = stringOf(item['call_id']) ?? '';
  if (length <= callIdCharactersMax) return null;
  const message =
    `Invalid '${place}.call_id': string too long. Expected a string with maximum length ` +
    `${callIdCharactersMax}, but got a string with length ${length} instead.`;
  return badRequest('string_above_max_length', `${place}.call_id`, message);
}

/** Reasoning goes with the item it led to. */
function loneReasoning(items: readonly JsonRecord[]): Complaint | null {
  const last = items.at(-1) ?? {};
  if (itemType(last) !== 'reasoning') return null;
  const message = `Item '${stringOf(last['id'])}' of type 'reasoning' was provided without its required following item.`;
  return badRequest(null, 'input', message);
}

function callsOfPrevious(request: JsonRecord, earlier: Conversations): readonly string[] {
  const previous = earlier.turn(stringOf(request['previous_response_id']) ?? '');
  return (previous?.items ?? []).flatMap(({ callId }) => callId ?? []);
}

/** Every call wants its output, and every output its call. */
function unpairedCalls(
  items: readonly JsonRecord[],
  open: readonly string[],
  earlier: Conversations,
): Complaint | null {
  const calls = new Set([...open, ...items.flatMap((item) => callIdOf(item, earlier) ?? [])]);
  const outputs = new Set(items.filter(isCallOutput).flatMap((item) => stringOf(item['call_id']) ?? []));
  const unanswered = calls.difference(outputs).values().next().value;
  if (unanswered !== undefined) {
    return badRequest(null, 'input', `No tool output found for function call ${unanswered}.`);
  }
  const unasked = outputs.difference(calls).values().next().value;
  if (unasked === undefined) return null;
  return badRequest(null, 'input', `No tool call found for function call output with call_id ${unasked}.`);
}

function callIdOf(item: JsonRecord, earlier: Conversations): string | null {
  const type = itemType(item);
  if (type === 'item_reference') return earlier.item(stringOf(item['id']) ?? '')?.callId ?? null;
  return type === 'function_call' || type === 'custom_tool_call' ? stringOf(item['call_id']) : null;
}
