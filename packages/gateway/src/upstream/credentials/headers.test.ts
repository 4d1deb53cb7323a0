import { expect, test } from 'vitest';
import { credentialHeaders, withChannelHeaders } from './headers.ts';

test.each([
  [{ scheme: 'bearer' }, 'sk-1', ['authorization', 'Bearer sk-1']],
  [{ scheme: 'header', header: 'X-Api-Key' }, 'sk-1', ['x-api-key', 'sk-1']],
  [{ scheme: 'none' }, 'sk-1', []],
  [{ scheme: 'bearer' }, null, []],
] as const)('%j with the secret %s', (scheme, secret, headers) => {
  expect(credentialHeaders(scheme, secret)).toEqual({ ok: true, value: headers });
});

test.each(['', 'sk-1\n', 'sk-1\r\nx-other: 1', 'sk-\u0000', 'sk-\u2026', 'sk-\t1'])(
  'the secret %j is refused without being told',
  (secret) => {
    for (const scheme of [{ scheme: 'bearer' }, { scheme: 'header', header: 'x-key' }] as const) {
      const result = credentialHeaders(scheme, secret);
      expect(result.ok).toBe(false);
      if (secret !== '') expect(JSON.stringify(result)).not.toContain(secret);
    }
  },
);

test.each([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'proxy-authorization',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-anything',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-neutral-api-key',
])("the caller's %s never goes upstream", (name) => {
  expect(
    withChannelHeaders(['accept', 'a', name, 'b', 'x-kept', 'c'], ['authorization', 'Bearer k']),
  ).toEqual(['accept', 'a', 'x-kept', 'c', 'authorization', 'Bearer k']);
});

test('a header with the name of the credential gives way to it', () => {
  expect(withChannelHeaders(['x-vendor-key', 'mine'], ['x-vendor-key', 'ours'])).toEqual([
    'x-vendor-key',
    'ours',
  ]);
});
