import { expect, test } from 'vitest';
import { dataUrl, readMediaUrl } from './data-url.ts';

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
