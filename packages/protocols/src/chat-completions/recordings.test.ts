import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../test/support/reference.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import { defaultDialect } from '../request.ts';
import { totalInput, totalOutput } from '../usage.ts';
import { chatCompletions } from './index.ts';

/**
 * Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). Our own streams in
 * the same dialects are in stream.test.ts.
 */
tellMissing('recorded answers', ['vercel-ai/', 'envoy-openai-cassettes/']);
const encoder = new TextEncoder();

interface Recording {
  readonly name: string;
  readonly text: string;
}

function recordings(folder: string, ending: string): readonly Recording[] {
  const root = new URL(folder, reference);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(new URL(name, `${root.href}/`), 'utf8') }));
}

/** Every response body of a cassette: block scalars under `body:`, indented by 12. */
function cassetteBodies({ name, text }: Recording): readonly Recording[] {
  return [...text.matchAll(/^ {8}body: \|[+-]?\n((?: {12}.*\n|\s*\n)*)/gm)].map((match, n) => ({
    name: `${name} ${n}`,
    text: (match[1] ?? '').replace(/^ {12}/gm, ''),
  }));
}

const own: Recording = {
  name: 'our own',
  text: [
    '{"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}',
    '{"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
  ].join('\n'),
};

const chunkFiles = [own, ...recordings('vercel-ai', '.chunks.txt')].filter(
  ({ text }) => /^\{[^\n]*"choices":/.test(text) && !/^\{[^\n]*"text_completion"/.test(text),
);
const streams = [
  ...chunkFiles.map(({ name, text }) => ({
    name,
    text: `${text
      .trim()
      .split('\n')
      .map((chunk) => `data: ${chunk}\n\n`)
      .join('')}data: [DONE]\n\n`,
  })),
  ...recordings('envoy-openai-cassettes', '.yaml')
    .flatMap(cassetteBodies)
    .filter(({ text }) => text.startsWith('data: ') && text.includes('chat.completion.chunk')),
];

const ownAnswer: Recording = {
  name: 'our own',
  text: '{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
};
const answers = [
  ownAnswer,
  ...recordings('vercel-ai', '.json'),
  ...recordings('envoy-openai-cassettes', '.yaml').flatMap(cassetteBodies),
].filter(
  ({ text }) => /^\s*\{/.test(text) && /"object":\s*"chat.completion"/.test(text) && /"choices"/.test(text),
);

interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

/** True when the recorded totals show that reasoning was counted outside of the completion. */
function dialectOf(usage: WireUsage | null) {
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
  const outside =
    usage !== null &&
    reasoning > 0 &&
    usage.total_tokens === usage.prompt_tokens + usage.completion_tokens + reasoning;
  return { ...defaultDialect, reasoningOutsideCompletion: outside };
}

/** True when the limit was used up before the model said anything: then there is usage, and nothing to see. */
function isReasoningOnly(usage: WireUsage | null): boolean {
  return usage !== null && usage.completion_tokens_details?.reasoning_tokens === usage.completion_tokens;
}

type Delta = Readonly<Record<'content' | 'reasoning_content' | 'reasoning' | 'refusal', unknown>>;

interface WireChunk {
  readonly choices: readonly { readonly delta?: Delta }[];
  readonly usage?: WireUsage | null;
}

function chunksOf(stream: string): readonly WireChunk[] {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => parseAs<WireChunk>(line.slice('data: '.length)));
}

function lastUsage(stream: string): WireUsage | null {
  return chunksOf(stream).findLast(({ usage }) => (usage ?? null) !== null)?.usage ?? null;
}

function read(stream: string, chunkBytes: number) {
  const bytes = encoder.encode(stream);
  const reader = chatCompletions.openStream(dialectOf(lastUsage(stream)));
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    splitter.push(bytes.slice(at, at + chunkBytes), (frame) => roles.push(reader.read(frame)));
  }
  return {
    roles,
    reading: { ...reader.reading, finishReason: reader.reading.finishReason },
    refusal: reader.refusal,
  };
}

/** Text of all choices by plain parsing, to hold the byte counts against. */
function outputBytes(stream: string): number {
  const deltas = chunksOf(stream).flatMap(({ choices }) => choices.flatMap(({ delta }) => delta ?? []));
  const texts = deltas.flatMap((delta) => [
    delta.content,
    delta.reasoning_content,
    delta.reasoning,
    delta.refusal,
  ]);
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? encoder.encode(text).length : 0),
    0,
  );
}

describe.each(streams)('stream $name', ({ text }) => {
  const whole = read(text, 1 << 20);

  test('is a complete answer with its usage', () => {
    const usage = lastUsage(text);
    expect(whole.refusal).toBeNull();
    expect(whole.roles.at(-1)).toBe('terminal');
    expect(whole.reading.finishReason).toMatch(/^(stop|length|tool-calls)$/);
    expect(whole.reading.hasOutput).toBe(!isReasoningOnly(usage));
    expect(whole.reading.modelServed).not.toBeNull();
    if (usage === null) return expect(whole.reading.usage).toBeNull();
    if (whole.reading.usage === null) throw new Error('usage was not read');
    expect(totalInput(whole.reading.usage)).toBe(usage.prompt_tokens);
    expect(totalInput(whole.reading.usage) + totalOutput(whole.reading.usage)).toBe(usage.total_tokens);
  });

  test('counts the bytes that were written', () => {
    if (/"tool_calls":\s*\[|"content":\s*\[/.test(text))
      expect(whole.reading.outputBytes).toBeGreaterThanOrEqual(outputBytes(text));
    else expect(whole.reading.outputBytes).toBe(outputBytes(text));
  });

  test.each([1, 7, 64, 1_000])('reads the same in chunks of %i bytes', (chunkBytes) => {
    expect(read(text, chunkBytes)).toEqual(whole);
  });
});

describe.each(answers)('answer $name', ({ text }) => {
  test('is read with its usage', () => {
    const { usage } = parseAs<{ readonly usage: WireUsage }>(text);
    const answer = chatCompletions.readAnswer(encoder.encode(text), dialectOf(usage));
    if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
    const { reading } = answer;
    expect(reading.hasOutput).toBe(!isReasoningOnly(usage));
    expect(reading.finishReason).toMatch(/^(stop|length|tool-calls)$/);
    if (reading.usage === null) throw new Error('usage was not read');
    expect(totalInput(reading.usage)).toBe(usage.prompt_tokens);
    expect(totalInput(reading.usage) + totalOutput(reading.usage)).toBe(usage.total_tokens);
  });
});
