import { countWords, tokensPerOtherPart } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { listOf, recordOf, stringOf } from '../json.ts';
import { member } from './spelling.ts';

export type Modality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';

/** The part of a prompt that counts, in the order it was sent: the system's first. */
export function promptParts(body: JsonRecord): readonly JsonRecord[] {
  return [recordOf(member(body, 'systemInstruction')), ...contentsOf(body)].flatMap(partsOf);
}

/** The turns of a prompt, or what is to be embedded in their place. */
export function contentsOf(body: JsonRecord): readonly JsonRecord[] {
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
