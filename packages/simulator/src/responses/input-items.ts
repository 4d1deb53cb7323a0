import { countWords, tokensPerOtherPart } from '../answer/ask.ts';
import type { Conversations } from '../conversations.ts';
import type { JsonRecord } from '../json.ts';
import { listOf, recordOf, stringOf } from '../json.ts';

/** What a request sends as its input: a text is one message of the user. */
export function inputItems(request: JsonRecord): readonly JsonRecord[] {
  const { input } = request;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input).map(recordOf);
}

/** The kind of an item; a message may leave its kind unsaid. */
export function itemType(item: JsonRecord): string {
  return stringOf(item['type']) ?? 'message';
}

/** Whether the item brings the result of a call. */
export function isCallOutput(item: JsonRecord): boolean {
  return itemType(item).endsWith('call_output');
}

/** The words an item says to the model. */
export function textsOf(item: JsonRecord): readonly string[] {
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
