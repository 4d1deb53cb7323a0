import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitiseUpstreamMessage } from './sanitise.ts';

test.each([
  [
    'Incorrect API key provided: sk-abcd1234efgh5678. See https://platform.vendor.example/keys?x=1.',
    'Incorrect API key provided: [key] See [address]',
  ],
  ['key sk-proj-****************wxyz is disabled', 'key [key] is disabled'],
  ['Invalid header: Bearer abc.def-ghi', 'Invalid header: [key]'],
  [
    'Rate limit reached in organization org-AbCdEf123456 on requests',
    'Rate limit reached in organization [account] on requests',
  ],
  ['cannot connect to 10.1.2.3:8080 or [fe80:0:0:0:1:2:3:4]', 'cannot connect to [address] or [address]'],
  ['upstream api.internal.corp.local:443/v1 timed out', 'upstream [address] timed out'],
  ['write to ops+billing@vendor.example', 'write to [address]'],
  ['two\nlines\u0000\u001b[31m and \u202e more', 'two lines [31m and more'],
])('%j', (message, clean) => {
  expect(sanitiseUpstreamMessage(message)).toBe(clean);
});

test.each([
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  'prompt is too long: 210000 tokens > 200000 maximum',
  "Unsupported value: 'temperature' does not support 0.5 with this model (gpt-4.1-mini, messages.0.content).",
  'Invalid schema for function get_weather: In context=(), required is required at 12:30:45.',
])('leaves what clients read: %s', (message) => {
  expect(sanitiseUpstreamMessage(message)).toBe(message);
});

test.each([
  [
    "The model `sim-7b` does not exist in Acme's region",
    "The model `public` does not exist in the provider's region",
  ],
  ['ACME: sim-7b.', 'the provider: public.'],
  ['models/sim-7b, sim-7b-large, sim-7b.1, a-sim-7b', 'models/public, sim-7b-large, sim-7b.1, a-sim-7b'],
  ['pacmen of ab', 'pacmen of ab'],
])('names of our own are told as callers know them: %j', (message, clean) => {
  const names = new Map([
    ['sim-7b', 'public'],
    ['Acme', 'the provider'],
    ['ab', 'x'],
  ]);
  expect(sanitiseUpstreamMessage(message, names)).toBe(clean);
});

test('a name may be made of signs', () => {
  expect(sanitiseUpstreamMessage('at (a+b)*$1 now', new Map([['(a+b)*$1', '$&']]))).toBe('at $& now');
});

test('is bounded and on one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (message) => {
      const clean = sanitiseUpstreamMessage(message);
      expect(clean.length).toBeLessThanOrEqual(600);
      expect(clean).not.toMatch(/[\p{Cc}\n]/u);
    }),
  );
});
