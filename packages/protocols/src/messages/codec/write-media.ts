import { unreachable } from '../../result.ts';
import { mediaField } from '../../translate/caller-fields.ts';
import type { MediaBlock } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import type { WriteContext } from './write-context.ts';

/** A picture or a file; a fault for what this protocol cannot show a model. */
export function writeMedia(
  block: MediaBlock,
  context: Pick<WriteContext, 'surface' | 'notes' | 'breakpoints'>,
): readonly WireRecord[] {
  const source = sourceOf(block);
  if (source === null) {
    context.notes.refuse(mediaField(context.surface, block.media), remedyFor(block));
    return [];
  }
  const isImage = block.media === 'image';
  const title = isImage || block.filename === null || block.filename === '' ? {} : { title: block.filename };
  const type = isImage ? 'image' : 'document';
  return [{ type, source, ...title, ...context.breakpoints.write(block.cacheTtl) }];
}

function remedyFor({ media, source }: MediaBlock): string {
  if (source.kind === 'id') return 'send the file itself in the place of its id';
  return media === 'audio'
    ? 'leave it out'
    : 'send an image as PNG, JPEG, GIF or WebP, and a file as PDF or text';
}

function sourceOf(block: MediaBlock): WireRecord | null {
  switch (block.media) {
    case 'audio':
      return null;
    case 'image':
      return imageSource(block);
    case 'file':
      return fileSource(block);
    default:
      return unreachable(block.media);
  }
}

function imageSource({ source, mediaType }: MediaBlock): WireRecord | null {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64': {
      const media_type = imageType(source.data, mediaType);
      return media_type === null ? null : { type: 'base64', media_type, data: source.data };
    }
    case 'text':
    case 'id':
      return null;
    default:
      return unreachable(source);
  }
}

/** How the formats that are taken begin, in base64. Their own word counts: the vendor checks it. */
const imageBeginnings: Readonly<Record<string, string>> = {
  'image/png': 'iVBORw0',
  'image/jpeg': '/9j/',
  'image/gif': 'R0lGOD',
  'image/webp': 'UklGR',
};

function imageType(data: string, mediaType: string | null): string | null {
  const found = Object.entries(imageBeginnings).find(([, beginning]) => data.startsWith(beginning));
  if (found !== undefined) return found[0];
  return mediaType !== null && mediaType in imageBeginnings ? mediaType : null;
}

const pdfType = 'application/pdf';
/** How a PDF begins, in base64. */
const pdfBeginning = 'JVBERi';

function fileSource({ source, mediaType }: MediaBlock): WireRecord | null {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'text':
      return plainText(source.text);
    case 'base64':
      if (mediaType === pdfType || source.data.startsWith(pdfBeginning))
        return { type: 'base64', media_type: pdfType, data: source.data };
      return isText(mediaType) ? decodedText(source.data) : null;
    case 'id':
      return null;
    default:
      return unreachable(source);
  }
}

function isText(mediaType: string | null): boolean {
  return mediaType !== null && /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml)\b/.test(mediaType);
}

/** Null for what is no base64, or no text in UTF-8. */
function decodedText(data: string): WireRecord | null {
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return plainText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

function plainText(data: string): WireRecord | null {
  return data === '' ? null : { type: 'text', media_type: 'text/plain', data };
}
