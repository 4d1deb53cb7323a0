import type { ReaderContext } from '../codec.ts';
import type { AnswerBlock } from '../translate/answer.ts';
import { readImageDetail, readMediaUrl } from '../translate/media.ts';
import type { TurnNotes } from '../translate/reading.ts';
import {
  type Block,
  type CacheTtl,
  type Citation,
  type MediaBlock,
  type RefusalBlock,
  type TextBlock,
  type ToolCallBlock,
  textBlock,
} from '../turn.ts';
import type { Finish } from '../turn-event.ts';
import { type FinishReason, readFinishReason } from '../turn-event.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { readUsage } from './meter.ts';

/** A part of a message's content, or of the output of a tool. */
export type Part = TextBlock | MediaBlock | RefusalBlock;

/** The place of something in the request, for messages: `input[2].content[0]`. */
export type Place = string;

/** The parts of a content, which may be one text. None of nothing. */
export function readParts(content: unknown, place: Place, notes: TurnNotes): readonly Part[] {
  if (typeof content === 'string') return [textBlock(content)];
  if (content === null || content === undefined) return [];
  if (Array.isArray(content))
    return content.flatMap((part, index) => readPart(recordOf(part), `${place}[${index}]`, notes));
  return notes.blame(place, 'must be a text or a list of parts');
}

function readPart(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return readText(part, place, notes);
    case 'refusal':
      return [{ kind: 'refusal', text: stringOf(part['refusal']) ?? '' }];
    case 'input_image':
    case 'computer_screenshot':
      return readImage(part, place, notes);
    case 'input_file':
      return readFile(part, place, notes);
    case 'input_audio':
      return readAudio(part, place, notes);
    default:
      return notes.blame(`${place}.type`, 'names no kind of content that is known here');
  }
}

function readText(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  const text = stringOf(part['text']);
  if (text === null) return notes.blame(`${place}.text`, 'must be a text');
  return [textBlock(text, cacheTtlOf(part), readCitations(part['annotations']))];
}

/** Annotations that name a page. Those that name a file of the vendor's mean nothing elsewhere. */
function readCitations(annotations: unknown): readonly Citation[] {
  return listOf(annotations).flatMap((annotation) => readCitation(recordOf(annotation)) ?? []);
}

export function readCitation(annotation: WireRecord): Citation | null {
  const url = stringOf(annotation['url']);
  if (annotation['type'] !== 'url_citation' || url === null) return null;
  return {
    url,
    title: stringOf(annotation['title']),
    quote: null,
    start: numberOf(annotation['start_index']),
    end: numberOf(annotation['end_index']),
  };
}

/** A breakpoint keeps what is before it; how long is set for the whole request, and at least this. */
function cacheTtlOf(part: WireRecord): CacheTtl {
  return (part['prompt_cache_breakpoint'] ?? null) === null ? null : '5m';
}

function readImage(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  const { image_url: image } = part;
  const url = stringOf(image) ?? stringOf(recordOf(image)['url']);
  const common = {
    ...commonOf(part),
    media: 'image',
    detail: readImageDetail(part['detail'], 'input[].content[].detail', notes),
  } as const;
  if (url === null) return readFileId(part, common, place, notes);
  return mediaAt(url, common, `${place}.image_url`, notes);
}

type MediaDetails = Omit<MediaBlock, 'source' | 'mediaType'>;

function commonOf(part: WireRecord) {
  const filename = stringOf(part['filename']);
  return { kind: 'media', filename, detail: null, cacheTtl: cacheTtlOf(part) } as const;
}

function mediaAt(url: string, details: MediaDetails, place: Place, notes: TurnNotes): readonly Part[] {
  const media = readMediaUrl(url);
  if (media !== null) return [{ ...details, ...media }];
  return notes.blame(place, 'must be a URL, or a data URL in base64');
}

/** A file that only the vendor has. */
function readFileId(
  part: WireRecord,
  details: MediaDetails,
  place: Place,
  notes: TurnNotes,
): readonly Part[] {
  const id = stringOf(part['file_id']);
  if (id === null) return notes.blame(place, 'has no content: give a URL or data');
  notes.insist('input[].content[].file_id');
  return [{ ...details, source: { kind: 'id', id }, mediaType: null }];
}

function readFile(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  const details = { ...commonOf(part), media: 'file' } as const;
  if ((part['detail'] ?? 'auto') !== 'auto') notes.lose('input[].content[].detail');
  const data = stringOf(part['file_data']);
  const url = stringOf(part['file_url']);
  if (data !== null && !/^data:/i.test(data))
    return [{ ...details, source: { kind: 'base64', data }, mediaType: null }];
  if (data !== null) return mediaAt(data, details, `${place}.file_data`, notes);
  if (url !== null) return mediaAt(url, details, `${place}.file_url`, notes);
  return readFileId(part, details, place, notes);
}

const audioTypes: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' };

function readAudio(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  const audio = part['input_audio'];
  const data = isRecord(audio) ? stringOf(audio['data']) : null;
  if (data === null) return notes.blame(`${place}.input_audio`, "must hold 'data' and 'format'");
  const format = stringOf(recordOf(audio)['format']) ?? '';
  const mediaType = Object.hasOwn(audioTypes, format) ? (audioTypes[format] ?? null) : null;
  return [{ ...commonOf(part), media: 'audio', source: { kind: 'base64', data }, mediaType }];
}

/**
 * The blocks of an item of an answer, by its part: messages have parts, everything else is one. Items of tools that the vendor
 * runs say nothing to the caller: what they found is in the text.
 */
export function blocksOfItem(
  item: WireRecord,
  index: number,
  context: ReaderContext,
): ReadonlyMap<number, AnswerBlock> {
  switch (item['type']) {
    case 'message':
      return blocksOfMessage(item);
    case 'reasoning':
      return only(reasoningOf(item, context));
    case 'function_call':
    case 'custom_tool_call':
      return only(callOf(item, index, context));
    case 'image_generation_call':
      return only(imageOf(item));
    default:
      return new Map();
  }
}

function only(block: AnswerBlock | null): ReadonlyMap<number, AnswerBlock> {
  return new Map(block === null ? [] : [[0, block]]);
}

function blocksOfMessage(item: WireRecord): ReadonlyMap<number, AnswerBlock> {
  const blocks = new Map<number, AnswerBlock>();
  for (const [index, part] of listOf(item['content']).entries()) {
    const block = blockOfPart(recordOf(part));
    if (block !== null) blocks.set(index, block);
  }
  return blocks;
}

/** Null for an empty part, and for one of a kind that no caller knows. */
export function blockOfPart(part: WireRecord): AnswerBlock | null {
  const text = stringOf(part['text']) ?? '';
  const refusal = stringOf(part['refusal']) ?? '';
  switch (part['type']) {
    case 'output_text':
    case 'text':
      return text === '' ? null : textBlock(text, null, readCitations(part['annotations']));
    case 'refusal':
      return refusal === '' ? null : { kind: 'refusal', text: refusal };
    default:
      return null;
  }
}

function reasoningOf(item: WireRecord, { origin }: ReaderContext): AnswerBlock | null {
  const text = thoughtsOf(item);
  const data = stringOf(item['encrypted_content']) ?? '';
  if (text === '' && data === '') return null;
  return { kind: 'reasoning', text, sealed: data === '' ? null : { origin, data, form: 'signature' } };
}

/** The call with the caller's own name for the tool, and an id even if the upstream gave none. */
export function callOf(item: WireRecord, index: number, { names, traceId }: ReaderContext): ToolCallBlock {
  const isCustom = item['type'] === 'custom_tool_call';
  const sent = stringOf(item['name']) ?? '';
  const own = names.get(sent);
  const namespace = stringOf(item['namespace']) ?? own?.namespace ?? null;
  return {
    kind: 'tool-call',
    id: stringOf(item['call_id']) || stringOf(item['id']) || `call_${traceId}_${index}`,
    name: own?.name ?? sent,
    namespace,
    form: isCustom ? 'custom' : 'function',
    input: stringOf(isCustom ? item['input'] : item['arguments']) ?? '',
    sealed: null,
  };
}

function imageOf(item: WireRecord): AnswerBlock | null {
  const data = stringOf(item['result']) ?? '';
  return data === '' ? null : imageBlock(data, stringOf(item['output_format']));
}

/** How a response ended. It has no word for the use of tools or for a refusal: what is in it says so. */
export function finishOf(response: WireRecord, kinds: ReadonlySet<Block['kind']>): Finish {
  const cause = stringOf(recordOf(response['incomplete_details'])['reason']);
  const status = stringOf(response['status']);
  return {
    reason: reasonOf(status, cause, kinds),
    rawReason: cause ?? status,
    stopSequence: null,
    usage: readUsage(response['usage']),
  };
}

function reasonOf(
  status: string | null,
  cause: string | null,
  kinds: ReadonlySet<Block['kind']>,
): FinishReason {
  if (status === 'incomplete') return cause === null ? 'unknown' : readFinishReason(cause);
  if (status === 'failed' || status === 'cancelled') return 'error';
  if (kinds.has('tool-call')) return 'tool-calls';
  return kinds.has('refusal') ? 'refusal' : 'stop';
}

/** Thoughts in full where they are given, else summed up. */
export function thoughtsOf(item: WireRecord): string {
  const full = textsOf(item['content']);
  return (full.length > 0 ? full : textsOf(item['summary'])).join('\n\n');
}

function textsOf(parts: unknown): readonly string[] {
  return listOf(parts)
    .map((part) => stringOf(recordOf(part)['text']) ?? '')
    .filter((text) => text !== '');
}

export function imageBlock(data: string, format: string | null): MediaBlock {
  const mediaType = `image/${format === 'jpeg' || format === 'webp' ? format : 'png'}`;
  const source = { kind: 'base64', data } as const;
  return { kind: 'media', media: 'image', mediaType, source, filename: null, detail: null, cacheTtl: null };
}
