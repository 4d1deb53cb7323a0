import { readMediaUrl } from '../../translate/data-url.ts';
import { readImageDetail } from '../../translate/image-detail.ts';
import type { TurnNotes } from '../../translate/turn-notes.ts';
import type { CacheTtl, Citation, MediaBlock, RefusalBlock, TextBlock } from '../../turn.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/** What a message's content or the output of a tool is made of. */
export type Part = TextBlock | MediaBlock | RefusalBlock;

/** Where something stands in the request, for messages: `input[2].content[0]`. */
export type Place = string;

/** The parts of a content, which may be one text. None of nothing. */
export function readParts(content: unknown, place: Place, notes: TurnNotes): readonly Part[] {
  if (typeof content === 'string') return [textBlock(content)];
  if (content === null || content === undefined) return [];
  if (Array.isArray(content))
    return content.flatMap((part, index) => readPart(recordOf(part), `${place}[${index}]`, notes));
  notes.blame(place, `'${place}' must be a text or a list of parts.`);
  return [];
}

export function textBlock(text: string, rest: Partial<Omit<TextBlock, 'kind' | 'text'>> = {}): TextBlock {
  return { kind: 'text', text, citations: [], cacheTtl: null, ...rest };
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
      notes.blame(`${place}.type`, `'${place}.type' names no kind of content that is known here.`);
      return [];
  }
}

function readText(part: WireRecord, place: Place, notes: TurnNotes): readonly Part[] {
  const text = stringOf(part['text']);
  if (text === null) {
    notes.blame(`${place}.text`, `'${place}.text' must be a text.`);
    return [];
  }
  return [textBlock(text, { citations: readCitations(part['annotations']), cacheTtl: cacheTtlOf(part) })];
}

/** Annotations that name a page. Those that name a file of the vendor's mean nothing elsewhere. */
export function readCitations(annotations: unknown): readonly Citation[] {
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
  notes.blame(place, `'${place}' must be a URL, or a data URL in base64.`);
  return [];
}

/** A file that only the vendor has. */
function readFileId(
  part: WireRecord,
  details: MediaDetails,
  place: Place,
  notes: TurnNotes,
): readonly Part[] {
  const id = stringOf(part['file_id']);
  if (id === null) {
    notes.blame(place, `'${place}' has no content: give a URL or data.`);
    return [];
  }
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
  if (data === null) {
    notes.blame(`${place}.input_audio`, `'${place}.input_audio' must hold 'data' and 'format'.`);
    return [];
  }
  const format = stringOf(recordOf(audio)['format']) ?? '';
  const mediaType = Object.hasOwn(audioTypes, format) ? (audioTypes[format] ?? null) : null;
  return [{ ...commonOf(part), media: 'audio', source: { kind: 'base64', data }, mediaType }];
}
