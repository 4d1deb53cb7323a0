import { afterAll, describe, expect, test } from 'vitest';
import { countPrompt } from './count-prompt.ts';
import { WorkerTokenCounter } from './worker-token-counter.ts';

const encoder = new TextEncoder();
const requestOf = (content: unknown) =>
  encoder.encode(JSON.stringify({ messages: [{ role: 'user', content }] }));

describe('a count', () => {
  test.each([
    ['hello world', 6],
    ['', 4],
    ['<|endoftext|>', 11],
    [[{ type: 'image', source: { type: 'url', url: 'u' } }], 1_604],
  ])('of %j', (content, tokens) => {
    expect(countPrompt(requestOf(content))).toBe(tokens);
  });

  test('of a long prompt is that of its beginning, as far as it goes', () => {
    const words = 'The quick brown fox jumps over the lazy dog. ';
    const tokens = countPrompt(requestOf(words.repeat(20_000)));
    expect(tokens).toBeGreaterThan(10 * 20_000 * 0.99);
    expect(tokens).toBeLessThan(10 * 20_000 * 1.01);
  });

  test('of one letter without end is made in pieces, which takes no longer than words do', () => {
    // With a space before it, it is not taken for data.
    expect(countPrompt(requestOf(` ${'a'.repeat(300_000)}`))).toBeGreaterThan(30_000);
    expect(countPrompt(requestOf('a'.repeat(300_000)))).toBe(1_604);
  });
});

describe('a thread that counts', () => {
  const counter = new WorkerTokenCounter(() => undefined);
  afterAll(() => counter.close());

  test.each([
    ['of its own', (bytes: Uint8Array) => Buffer.from(new Uint8Array(bytes).buffer)],
    ['of the pool', (bytes: Uint8Array) => Buffer.from(bytes)],
  ])('leaves the bytes where they are that stand in a buffer %s', async (_, inBuffer) => {
    const body = inBuffer(requestOf('hello world'));
    const bytes = body.toString();
    expect(await counter.count(body, 'a')).toBe(6);
    expect(body.toString()).toBe(bytes);
  });

  test('answers each in turn, and goes on after what it cannot read', async () => {
    const counts = ['hello world', 'hello'].map((content) => counter.count(requestOf(content), 'a'));
    const broken = counter.count(encoder.encode('{'), 'a');
    expect(await Promise.all([...counts, broken, counter.count(requestOf('hello'), 'a')])).toEqual([
      6,
      5,
      null,
      5,
    ]);
  });

  test('takes no more than it can do soon', async () => {
    const counts = await Promise.all(
      Array.from({ length: 12 }, () => counter.count(requestOf('hello'), 'a')),
    );
    expect(counts.filter((count) => count === null)).toHaveLength(3);
    expect(new Set(counts)).toEqual(new Set([5, null]));
  });

  test('leaves the bytes it was given as they are', async () => {
    const body = requestOf('hello');
    await counter.count(body, 'a');
    expect(body).toEqual(requestOf('hello'));
  });
});
