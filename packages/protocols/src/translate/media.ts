import { type Fault, fault } from '../error.ts';
import { type Block, type MediaBlock, type MediaKind, type Message, type Turn, textBlock } from '../turn.ts';
import type { TurnNotes } from './reading.ts';

/** The data that was found under a URL. */
export interface FetchedMedia {
  /** `image/png` and the like, as its server says. */
  readonly mediaType: string;
  readonly base64: string;
}

export type MediaByUrl = ReadonlyMap<string, FetchedMedia>;

/** The URLs of media that a target does not fetch itself, once each. `byUrl`: the kinds it does fetch. */
export function remoteMediaOf(turn: Turn, byUrl: readonly MediaKind[]): readonly string[] {
  const urls = mediaOf(turn).flatMap(({ media, source }) =>
    source.kind === 'url' && isWebUrl(source.url) && !byUrl.includes(media) ? [source.url] : [],
  );
  return [...new Set(urls)];
}

/** The turn with what has been fetched in the place of its URLs. A thing is then of the kind that its server says it is. */
export function withMedia(turn: Turn, fetched: MediaByUrl): Turn {
  if (fetched.size === 0) return turn;
  return { ...turn, messages: turn.messages.map((message) => messageWith(message, fetched)) };
}

/** Why a request cannot be served whose URL cannot be had. `problem`: what is wrong with it, to follow `a URL that`. */
export function remoteMediaFault(turn: Turn, url: string, problem: string): Fault {
  const media = mediaOf(turn).find(({ source }) => source.kind === 'url' && source.url === url)?.media;
  const field = turn.surface.media[media ?? 'file'];
  const message = `'${field}' names a URL that ${problem}; send the content itself, in base64.`;
  return fault('invalid_request', { message, param: field });
}

function mediaOf({ messages }: Turn): readonly MediaBlock[] {
  return messages.flatMap(({ content }) => content.flatMap(mediaIn));
}

function mediaIn(block: Block): readonly MediaBlock[] {
  if (block.kind === 'media') return [block];
  return block.kind === 'tool-result' ? block.content.flatMap(mediaIn) : [];
}

/** Any other scheme is one that a vendor has made up for files of its own. */
function isWebUrl(url: string): boolean {
  return /^https?:/i.test(url);
}

function messageWith(message: Message, fetched: MediaByUrl): Message {
  return { ...message, content: message.content.map((block) => blockWith(block, fetched)) };
}

function blockWith(block: Block, fetched: MediaByUrl): Block {
  if (block.kind === 'media') return mediaWith(block, fetched);
  if (block.kind !== 'tool-result') return block;
  const content = block.content.map((part) => (part.kind === 'media' ? mediaWith(part, fetched) : part));
  return { ...block, content };
}

function mediaWith(block: MediaBlock, fetched: MediaByUrl): MediaBlock {
  const found = block.source.kind === 'url' ? fetched.get(block.source.url) : undefined;
  if (found === undefined) return block;
  const { mediaType, base64 } = found;
  return { ...block, media: kindOf(mediaType), mediaType, source: { kind: 'base64', data: base64 } };
}

function kindOf(mediaType: string): MediaKind {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}

const note = '[Made by the model in its answer above]';

/**
 * A conversation in which the model says words only, for protocols that take no pictures from it: what it has made is shown
 * to it by the user right behind, so that it can be spoken of.
 */
export function showMedia(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message) => {
    const made = message.role === 'assistant' ? message.content.filter(isMedia) : [];
    if (made.length === 0) return [message];
    const said = { ...message, content: message.content.filter((block) => !isMedia(block)) };
    return [said, { role: 'user', content: [textBlock(note), ...made], name: null }];
  });
}

function isMedia(block: Block): block is MediaBlock {
  return block.kind === 'media';
}

/** A URL as the place of media: a `data:` URL is what it holds. Null for a `data:` URL that is not base64. */
export function readMediaUrl(url: string): Pick<MediaBlock, 'source' | 'mediaType'> | null {
  if (!/^data:/i.test(url)) return { source: { kind: 'url', url }, mediaType: null };
  const comma = url.indexOf(',');
  const head = comma === -1 ? '' : url.slice('data:'.length, comma);
  if (!/;base64$/i.test(head)) return null;
  const mediaType = head.slice(0, head.indexOf(';')).toLowerCase();
  return {
    source: { kind: 'base64', data: url.slice(comma + 1) },
    mediaType: mediaType === '' ? null : mediaType,
  };
}

/** Data of which nothing is known but its bytes is sent as bytes. */
export function dataUrl(mediaType: string | null, data: string): string {
  return `data:${mediaType ?? 'application/octet-stream'};base64,${data}`;
}

/** How closely an image is to be looked at, in the words chat and responses share. `field`: as the caller spells it. */
export function readImageDetail(detail: unknown, field: string, notes: TurnNotes): MediaBlock['detail'] {
  switch (detail) {
    case 'low':
    case 'high':
    case 'auto':
      return detail;
    case null:
    case undefined:
      return null;
    default:
      notes.lose(field);
      return detail === 'original' ? 'high' : null;
  }
}
