import type { MediaBlock } from '../turn.ts';

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

/** What is known of nothing but its bytes is sent as bytes. */
export function dataUrl(mediaType: string | null, data: string): string {
  return `data:${mediaType ?? 'application/octet-stream'};base64,${data}`;
}
