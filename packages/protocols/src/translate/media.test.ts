import { expect, test } from 'vitest';
import { chatSurface } from '../chat-completions/wire.ts';
import { type Block, type MediaBlock, type MediaSource, noSettings, type Turn } from '../turn.ts';
import { dataUrl, readMediaUrl, remoteMediaFault, remoteMediaOf, withMedia } from './media.ts';

function media(source: MediaSource, kind: MediaBlock['media'] = 'image'): MediaBlock {
  const rest = { mediaType: null, filename: null, detail: null, cacheTtl: null };
  return { kind: 'media', media: kind, source, ...rest };
}

const web = (url: string, kind?: MediaBlock['media']) => media({ kind: 'url', url }, kind);

function turnWith(...content: readonly Block[]): Turn {
  const rest = { system: [], tools: [], toolChoice: null, spelling: {}, extensions: [] };
  const messages = [{ role: 'user', content, name: null }] as const;
  return { surface: chatSurface, model: 'm', stream: false, messages, settings: noSettings, ...rest };
}

const turn = turnWith(
  web('https://a.example/1.png'),
  web('https://a.example/1.png'),
  web('gs://bucket/2.png'),
  media({ kind: 'base64', data: 'AA==' }),
  web('https://a.example/3.pdf', 'file'),
  {
    kind: 'tool-result',
    callId: 'c',
    isError: false,
    content: [web('http://a.example/4.png')],
    cacheTtl: null,
  },
);

test('media is fetched once, where the target does not fetch it', () => {
  expect(remoteMediaOf(turn, ['image'])).toEqual(['https://a.example/3.pdf']);
  expect(remoteMediaOf(turn, [])).toEqual([
    'https://a.example/1.png',
    'https://a.example/3.pdf',
    'http://a.example/4.png',
  ]);
});

test('what was fetched stands where its URL was, and is what its server says', () => {
  const fetched = new Map([
    ['https://a.example/1.png', { mediaType: 'application/pdf', base64: 'AQ==' }],
    ['http://a.example/4.png', { mediaType: 'image/png', base64: 'Ag==' }],
  ]);
  const after = withMedia(turn, fetched);
  expect(remoteMediaOf(after, [])).toEqual(['https://a.example/3.pdf']);
  expect(after.messages[0]?.content[1]).toMatchObject({
    media: 'file',
    mediaType: 'application/pdf',
    source: { kind: 'base64', data: 'AQ==' },
  });
  expect(after.messages[0]?.content[5]).toMatchObject({
    content: [{ mediaType: 'image/png', source: { data: 'Ag==' } }],
  });
});

test('what cannot be had is named as the caller names it', () => {
  expect(remoteMediaFault(turn, 'https://a.example/3.pdf', 'is gone')).toMatchObject({
    code: 'invalid_request',
    param: 'messages[].content[].file',
    message: "'messages[].content[].file' names a URL that is gone; send the content itself, in base64.",
  });
});

test.each([
  [
    'https://example.org/a.png',
    { source: { kind: 'url', url: 'https://example.org/a.png' }, mediaType: null },
  ],
  ['data:image/png;base64,AA==', { source: { kind: 'base64', data: 'AA==' }, mediaType: 'image/png' }],
  ['DATA:Image/PNG;name=a;BASE64,AA==', { source: { kind: 'base64', data: 'AA==' }, mediaType: 'image/png' }],
  ['data:;base64,', { source: { kind: 'base64', data: '' }, mediaType: null }],
  ['data:text/plain,hello', null],
  ['data:', null],
])('%s', (url, expected) => {
  expect(readMediaUrl(url)).toEqual(expected);
});

test('bytes are sent under their type, or as bytes of none', () => {
  expect(dataUrl('image/png', 'AA==')).toBe('data:image/png;base64,AA==');
  expect(dataUrl(null, 'AA==')).toBe('data:application/octet-stream;base64,AA==');
});
