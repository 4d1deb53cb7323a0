import type { Conversations } from '../conversations.ts';
import { type JsonRecord, listOf, recordOf, stringOf } from '../json.ts';
import { badRequest, type Complaint, missing } from '../protocol.ts';

/** The first thing the vendor would refuse about a request; null when it would answer. */
export function complaintAbout(request: JsonRecord, earlier: Conversations): Complaint | null {
  return (
    movedMember(request) ??
    missingInput(request) ??
    unknownTurn(request, earlier) ??
    smallLimit(request) ??
    complaintAboutFormat(recordOf(recordOf(request['text'])['format'])) ??
    complaintAboutTools(listOf(request['tools']), 'tools') ??
    complaintAboutItems(request, earlier)
  );
}

/** Members of chat completions and where they went. */
const movedMembers: Readonly<Record<string, string>> = {
  messages: 'input',
  response_format: 'text.format',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
};

function movedMember(request: JsonRecord): Complaint | null {
  const name = Object.keys(movedMembers).find((member) => request[member] !== undefined);
  if (name === undefined) return null;
  const message = `Unsupported parameter: '${name}'. In the Responses API, this parameter has moved to '${movedMembers[name]}'.`;
  return badRequest('unsupported_parameter', name, message);
}

const contextMembers = ['input', 'previous_response_id', 'prompt', 'conversation'];

function missingInput(request: JsonRecord): Complaint | null {
  const isGiven = contextMembers.some((name) => (request[name] ?? null) !== null);
  return isGiven ? null : missing('input');
}

function unknownTurn(request: JsonRecord, earlier: Conversations): Complaint | null {
  const id = stringOf(request['previous_response_id']);
  if (id === null || earlier.turn(id) !== undefined) return null;
  const message = `Previous response with id '${id}' not found.`;
  return badRequest('previous_response_not_found', 'previous_response_id', message);
}

const limitMin = 16;

function smallLimit({ max_output_tokens: limit }: JsonRecord): Complaint | null {
  if (typeof limit !== 'number' || limit >= limitMin) return null;
  const message =
    `Invalid 'max_output_tokens': integer below minimum value. ` +
    `Expected a value >= ${limitMin}, but got ${limit} instead.`;
  return badRequest('integer_below_min_value', 'max_output_tokens', message);
}

function complaintAboutFormat(format: JsonRecord): Complaint | null {
  if (format['type'] !== 'json_schema') return null;
  const absent = ['name', 'schema'].find((name) => format[name] === undefined);
  return absent === undefined ? null : missing(`text.format.${absent}`);
}

function complaintAboutTools(tools: readonly unknown[], place: string): Complaint | null {
  return firstComplaint(tools.map(recordOf), place, complaintAboutTool);
}

/** The first complaint about the elements of a list, each under its place. */
function firstComplaint(
  list: readonly JsonRecord[],
  place: string,
  about: (element: JsonRecord, place: string) => Complaint | null,
): Complaint | null {
  for (const [index, element] of list.entries()) {
    const complaint = about(element, `${place}[${index}]`);
    if (complaint !== null) return complaint;
  }
  return null;
}

function complaintAboutTool(tool: JsonRecord, place: string): Complaint | null {
  switch (tool['type']) {
    case 'function':
    case 'custom':
    case 'namespace':
      if (typeof tool['name'] !== 'string') return missing(`${place}.name`);
      return (
        nameComplaint(tool['name'], place) ?? complaintAboutTools(listOf(tool['tools']), `${place}.tools`)
      );
    case undefined:
      return missing(`${place}.type`);
    default:
      return null;
  }
}

/** The first item the vendor would refuse, by itself or for what it goes with; null when there is none. */
function complaintAboutItems(request: JsonRecord, earlier: Conversations): Complaint | null {
  const items = inputItems(request);
  return (
    firstComplaint(items, 'input', (item, place) => complaintAboutItem(item, place, earlier)) ??
    loneReasoning(items) ??
    unpairedCalls(items, callsOfPrevious(request, earlier), earlier)
  );
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

/** The model's own messages have their own kinds of content. */
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

/** Names of tools may have letters, digits, underscores and dashes. */
function nameComplaint(name: string, place: string): Complaint | null {
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return null;
  const message =
    `Invalid '${place}.name': string does not match pattern. ` +
    `Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return badRequest('invalid_value', `${place}.name`, message);
}

/** Reads a request's input: a text is one message of the user. */
export function inputItems(request: JsonRecord): readonly JsonRecord[] {
  const { input } = request;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input).map(recordOf);
}

/** The kind of an item; a message may leave its kind unsaid. */
export function itemType(item: JsonRecord): string {
  return stringOf(item['type']) ?? 'message';
}

/** The item brings the result of a call. */
export function isCallOutput(item: JsonRecord): boolean {
  return itemType(item).endsWith('call_output');
}
