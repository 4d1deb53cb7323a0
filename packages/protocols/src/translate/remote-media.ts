import { type Fault, fault } from '../error.ts';
import type { Block, MediaBlock, MediaKind, Message, Turn } from '../turn.ts';
import { mediaField } from './caller-fields.ts';

/** What was found under a URL. */
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
  const field = mediaField(turn.surface, media ?? 'file');
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
