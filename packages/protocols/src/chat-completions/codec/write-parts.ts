import { unreachable } from '../../result.ts';
import { mediaField } from '../../translate/caller-fields.ts';
import { dataUrl } from '../../translate/data-url.ts';
import { unsupported } from '../../translate/setting-losses.ts';
import type { MediaBlock, TextBlock } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import type { TurnWriting } from './turn-writing.ts';

/** A content: one text where it is no more than that, since not every server takes lists of parts. */
export function writeContent(
  writing: TurnWriting,
  blocks: readonly (TextBlock | MediaBlock)[],
): string | readonly WireRecord[] {
  const [first] = blocks;
  if (first === undefined) return '';
  if (blocks.length === 1 && first.kind === 'text' && !keepsCache(writing, first)) return first.text;
  return blocks.flatMap((block) =>
    block.kind === 'text' ? [writeText(writing, block)] : writeMedia(writing, block),
  );
}

function keepsCache({ isOwn }: TurnWriting, { cacheTtl }: TextBlock): boolean {
  return isOwn && cacheTtl !== null;
}

function writeText(writing: TurnWriting, block: TextBlock): WireRecord {
  return { type: 'text', text: block.text, ...writeCache(writing, block) };
}

/** For the caller's own protocol only: elsewhere caches need no marks, and servers refuse what they do not know. */
function writeCache({ isOwn }: TurnWriting, { cacheTtl }: TextBlock | MediaBlock): WireRecord {
  return isOwn && cacheTtl !== null ? { cache_control: { type: 'ephemeral', ttl: cacheTtl } } : {};
}

function writeMedia(writing: TurnWriting, block: MediaBlock): readonly WireRecord[] {
  const part = mediaPart(block);
  if (part !== null) return [{ ...part, ...writeCache(writing, block) }];
  const field = mediaField(writing.turn.surface, block.media);
  writing.refuse(unsupported(field, 'send the content itself, in a format that this model takes'));
  return [];
}

/** Null where the protocol cannot hold it. */
function mediaPart(block: MediaBlock): WireRecord | null {
  if (block.source.kind === 'text') return { type: 'text', text: documentText(block, block.source.text) };
  switch (block.media) {
    case 'image':
      return imagePart(block);
    case 'audio':
      return audioPart(block);
    case 'file':
      return filePart(block);
    default:
      return unreachable(block.media);
  }
}

function documentText({ filename }: MediaBlock, text: string): string {
  return filename === null ? text : `${filename}\n\n${text}`;
}

function imagePart({ source, mediaType, detail }: MediaBlock): WireRecord | null {
  const url = source.kind === 'base64' ? dataUrl(mediaType ?? 'image/png', source.data) : urlOf(source);
  return url === null ? null : { type: 'image_url', image_url: { url, detail: detail ?? undefined } };
}

function urlOf(source: MediaBlock['source']): string | null {
  return source.kind === 'url' ? source.url : null;
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);

function audioPart({ source, mediaType }: MediaBlock): WireRecord | null {
  const format = audioFormats.get(mediaType?.toLowerCase() ?? '');
  if (source.kind !== 'base64' || format === undefined) return null;
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

function filePart({ source, mediaType, filename }: MediaBlock): WireRecord | null {
  // Servers refuse a file without a name.
  const name = filename ?? 'file';
  switch (source.kind) {
    case 'base64':
      return { type: 'file', file: { filename: name, file_data: dataUrl(mediaType, source.data) } };
    case 'url':
      return { type: 'file', file: { filename: name, file_data: source.url } };
    case 'id':
    case 'text':
      return null;
    default:
      return unreachable(source);
  }
}
