import type { MediaBlock, MediaKind, MediaSource } from '../../turn.ts';
import { isRecord, stringOf, type WireRecord } from '../../wire-values.ts';
import { inCamelCase } from './camel-case.ts';

/** Bytes in the request or the answer itself. */
export function readInlineData(wire: WireRecord): MediaBlock {
  const { data, mimeType, displayName } = inCamelCase(wire);
  // Either alphabet of base64 may be used here, and one only elsewhere.
  const standard = (stringOf(data) ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return mediaBlock({ kind: 'base64', data: standard }, stringOf(mimeType), stringOf(displayName));
}

/** Media by URI; null when there is none. */
export function readFileData(wire: unknown): MediaBlock | null {
  if (!isRecord(wire)) return null;
  const { fileUri, mimeType, displayName } = inCamelCase(wire);
  const uri = stringOf(fileUri) ?? '';
  return mediaBlock(sourceOf(uri, stringOf(mimeType)), stringOf(mimeType), stringOf(displayName));
}

function mediaBlock(source: MediaSource, mimeType: string | null, filename: string | null): MediaBlock {
  const mediaType = mimeType === null || mimeType === '' ? null : mimeType.toLowerCase();
  return {
    kind: 'media',
    media: mediaKindOf(mediaType),
    mediaType,
    source,
    filename: filename === '' ? null : filename,
    detail: null,
    cacheTtl: null,
  };
}

function mediaKindOf(mediaType: string | null): MediaKind {
  if (mediaType?.startsWith('image/')) return 'image';
  return mediaType?.startsWith('audio/') ? 'audio' : 'file';
}

/** Where the vendor keeps the files that were handed to it. */
const vendorFile = /^https?:\/\/[^/]+\/(?:upload\/)?v1(?:beta|alpha)?\/files\//i;

/**
 * Whether only the vendor can open a URI: its own files and storage, and films, which are pages for anyone else.
 */
export function isVendorUri(uri: string, mediaType: string | null): boolean {
  return !/^https?:/i.test(uri) || vendorFile.test(uri) || mediaType?.startsWith('video/') === true;
}

function sourceOf(uri: string, mimeType: string | null): MediaSource {
  // Films on the web are named without a type.
  return mimeType === null || isVendorUri(uri, mimeType)
    ? { kind: 'id', id: uri }
    : { kind: 'url', url: uri };
}

/** How closely images are to be looked at; null when it is not said. */
export function mediaResolutionOf(wire: unknown): MediaBlock['detail'] {
  switch (wire) {
    case 'MEDIA_RESOLUTION_LOW':
      return 'low';
    case 'MEDIA_RESOLUTION_MEDIUM':
      return 'auto';
    case 'MEDIA_RESOLUTION_HIGH':
    case 'MEDIA_RESOLUTION_ULTRA_HIGH':
      return 'high';
    default:
      return null;
  }
}
