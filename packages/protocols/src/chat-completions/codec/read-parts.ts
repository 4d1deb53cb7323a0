import { readMediaUrl } from '../../translate/data-url.ts';
import { readImageDetail } from '../../translate/image-detail.ts';
import { plainWord, type TurnNotes } from '../../translate/turn-notes.ts';
import type { CacheTtl, MediaBlock, ReasoningBlock, RefusalBlock, TextBlock } from '../../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/** What a message's content is made of. */
export type Part = TextBlock | MediaBlock | RefusalBlock | ReasoningBlock;

/** The parts of a content, which may be one text. None of nothing, and of a text without characters. */
export function readParts(content: unknown, place: string, notes: TurnNotes): readonly Part[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [textBlock(content)];
  if (Array.isArray(content))
    return content.flatMap((part, index) => readPart(part, `${place}[${index}]`, notes));
  notes.blame(place, `'${place}' must be a text or a list of parts.`);
  return [];
}

export function textBlock(text: string, cacheTtl: CacheTtl = null): TextBlock {
  return { kind: 'text', text, citations: [], cacheTtl };
}

function readPart(value: unknown, place: string, notes: TurnNotes): readonly Part[] {
  // Some clients put texts where parts belong, and servers take them.
  if (typeof value === 'string') return readParts(value, place, notes);
  const part = recordOf(value);
  switch (part['type']) {
    case 'text':
      return readText(part, place, notes);
    case 'refusal':
      return [{ kind: 'refusal', text: stringOf(part['refusal']) ?? '' }];
    case 'thinking':
      return readThinkingPart(part);
    case 'image_url':
      return readImage(part, place, notes);
    case 'input_audio':
      return readAudio(part, place, notes);
    case 'file':
      return readFile(part, place, notes);
    default:
      return readUnknown(part, place, notes);
  }
}

function readText(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const text = stringOf(part['text']);
  if (text === null) return blamed(`${place}.text`, 'must be a text', notes);
  return text === '' ? [] : [textBlock(text, cacheTtlOf(part))];
}

/** `{type: 'thinking', thinking: [{type: 'text', text}]}`: how some servers hold thoughts, within the content. */
export function readThinkingPart(part: WireRecord): readonly ReasoningBlock[] {
  const { thinking } = part;
  const pieces = typeof thinking === 'string' ? [thinking] : listOf(thinking).map(thinkingText);
  const text = pieces.join('');
  return text === '' ? [] : [{ kind: 'reasoning', text, sealed: null }];
}

function thinkingText(piece: unknown): string {
  return stringOf(recordOf(piece)['text']) ?? '';
}

/** A kind of part that compatible servers may know, but no other protocol. */
function readUnknown(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const type = stringOf(part['type']);
  if (type === null) return blamed(`${place}.type`, 'must say what kind of part it is', notes);
  notes.insist(`messages[].content[].${plainWord(type)}`);
  return [];
}

function blamed(place: string, problem: string, notes: TurnNotes): readonly [] {
  notes.blame(place, `'${place}' ${problem}.`);
  return [];
}

function readImage(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const image = part['image_url'];
  const url = stringOf(image) ?? stringOf(recordOf(image)['url']);
  const media = url === null ? null : readMediaUrl(url);
  if (media === null)
    return blamed(`${place}.image_url.url`, 'must be a URL, or a data URL in base64', notes);
  const detail = readImageDetail(recordOf(image)['detail'], 'messages[].content[].image_url.detail', notes);
  return [{ ...commonOf(part), ...media, media: 'image', detail }];
}

function commonOf(part: WireRecord) {
  return { kind: 'media', filename: null, detail: null, cacheTtl: cacheTtlOf(part) } as const;
}

const audioTypes: ReadonlyMap<unknown, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
]);

function readAudio(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const audio = recordOf(part['input_audio']);
  const data = stringOf(audio['data']);
  if (data === null) return blamed(`${place}.input_audio.data`, 'must be sound in base64', notes);
  const mediaType = audioTypes.get(audio['format']) ?? null;
  return [{ ...commonOf(part), media: 'audio', mediaType, source: { kind: 'base64', data } }];
}

function readFile(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const file = recordOf(part['file']);
  const data = stringOf(file['file_data']);
  const id = stringOf(file['file_id']);
  const common = { ...commonOf(part), media: 'file', filename: stringOf(file['filename']) } as const;
  if (data !== null) {
    const media = fileData(data);
    return media === null
      ? blamed(`${place}.file.file_data`, 'must be a data URL in base64', notes)
      : [{ ...common, ...media }];
  }
  if (id === null) return blamed(`${place}.file`, "must hold 'file_data'", notes);
  notes.insist('messages[].content[].file.file_id');
  return [{ ...common, mediaType: null, source: { kind: 'id', id } }];
}

/** A data URL, an address (some servers take one) or the bytes alone. */
function fileData(data: string): Pick<MediaBlock, 'source' | 'mediaType'> | null {
  return /^[a-z]+:/i.test(data) ? readMediaUrl(data) : { source: { kind: 'base64', data }, mediaType: null };
}

/** A breakpoint of the protocol's own, or one as servers of other makes take it on parts. */
export function cacheTtlOf(holder: WireRecord): CacheTtl {
  const control = holder['cache_control'];
  if (isRecord(control)) return control['ttl'] === '1h' ? '1h' : '5m';
  const breakpoint = holder['prompt_cache_breakpoint'];
  if (!isRecord(breakpoint)) return null;
  return stringOf(breakpoint['ttl']) === null ? '5m' : '1h';
}
