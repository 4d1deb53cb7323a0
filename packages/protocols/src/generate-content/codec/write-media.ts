import type { ProtocolId } from '../../inbound-request.ts';
import { unreachable } from '../../result.ts';
import { mediaField } from '../../translate/caller-fields.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type { MediaBlock, MediaKind } from '../../turn.ts';
import { isVendorUri } from './read-media.ts';

interface MediaContext {
  readonly surface: ProtocolId;
  readonly notes: WriteNotes;
}

/** Media as a part. What is still named by URL can be opened by this protocol's vendor only where it is its own. */
export function writeMedia(block: MediaBlock, context: MediaContext): readonly Record<string, unknown>[] {
  const { source, media, mediaType, filename } = block;
  const { surface, notes } = context;
  switch (source.kind) {
    case 'base64': {
      const mimeType = mediaType ?? typeOfData(source.data, media);
      return [{ inlineData: { mimeType, data: source.data } }];
    }
    case 'text':
      notes.change(mediaField(surface, media), 'sent as text');
      return [{ text: [filename, source.text].filter(Boolean).join('\n\n') }];
    case 'url':
    case 'id':
      return writeReference(block, source.kind === 'url' ? source.url : source.id, context);
    default:
      return unreachable(source);
  }
}

function writeReference(
  { media, mediaType, source }: MediaBlock,
  uri: string,
  { surface, notes }: MediaContext,
) {
  const isOwn = isVendorUri(uri, mediaType) && (source.kind === 'url' || surface === 'generate-content');
  if (isOwn) return [{ fileData: { ...(mediaType === null ? {} : { mimeType: mediaType }), fileUri: uri } }];
  notes.refuse(mediaField(surface, media), 'send its content itself, in base64');
  return [];
}

/** How the data of each type begin, in base64. */
const beginnings: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi', 'application/pdf'],
];

const types: Readonly<Record<MediaKind, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  file: 'application/pdf',
};

/** The type must be said here; where the caller did not, the data do. */
function typeOfData(data: string, media: MediaKind): string {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? types[media];
}
