import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../test/support/reference.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import { defaultDialect } from '../request.ts';
import { totalInput, totalOutput, type Usage } from '../usage.ts';
import { messages } from './index.ts';
import { finish, openText, start, stop, text } from './stream-frames.fixture.ts';

/** Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). */
const folder = 'vercel-ai/anthropic/src/__fixtures__/';
const data = new URL(folder, reference);
tellMissing('recorded answers', [folder]);
const encoder = new TextEncoder();

interface Recording {
  readonly name: string;
  readonly text: string;
}

function recordings(ending: string): readonly Recording[] {
  if (!existsSync(data)) return [];
  return readdirSync(data)
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(new URL(name, data), 'utf8') }));
}

interface WireUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly iterations?: readonly WireUsage[] | null;
}

interface WireEvent {
  readonly type: string;
  readonly usage?: WireUsage;
  readonly message?: { readonly usage: WireUsage };
}

/** The sums by plain addition, to hold the meter against. */
function sums(usage: WireUsage): { readonly input: number; readonly output: number } {
  const { iterations } = usage;
  if (iterations?.length) {
    const parts = iterations.map(sums);
    return {
      input: parts.reduce((sum, { input }) => sum + input, 0),
      output: parts.reduce((sum, { output }) => sum + output, 0),
    };
  }
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  return { input: (usage.input_tokens ?? 0) + cached, output: usage.output_tokens ?? 0 };
}

function sumsOf(usage: Usage | null) {
  return usage === null ? null : { input: totalInput(usage), output: totalOutput(usage) };
}

const own = {
  name: 'our own',
  text: [start, openText, text('a'), finish('end_turn', { output_tokens: 2 }), stop].join(''),
};
const streams = [
  own,
  ...recordings('.chunks.txt').map(({ name, text: lines }) => ({
    name,
    text: lines
      .trim()
      .split('\n')
      .map((line) => `event: ${parseAs<WireEvent>(line).type}\ndata: ${line}\n\n`)
      .join(''),
  })),
];

function read(stream: string, chunkBytes: number) {
  const bytes = encoder.encode(stream);
  const reader = messages.openStream(defaultDialect);
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    splitter.push(bytes.slice(at, at + chunkBytes), (frame) => roles.push(reader.read(frame)));
  }
  const { usage, finishReason, modelServed, hasOutput, outputBytes } = reader.reading;
  return { roles, reading: { usage, finishReason, modelServed, hasOutput, outputBytes } };
}

function wireUsage(stream: string): WireUsage {
  const events = stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => parseAs<WireEvent>(line.slice('data: '.length)));
  const opening = events.find(({ type }) => type === 'message_start')?.message?.usage;
  return { ...opening, ...events.findLast(({ type }) => type === 'message_delta')?.usage };
}

describe.each(streams)('stream $name', ({ text: stream }) => {
  const whole = read(stream, 1 << 20);

  test('is a complete answer with its usage', () => {
    expect(whole.roles.at(-1)).toBe('terminal');
    expect(whole.roles).toContain('finish');
    expect(whole.reading.finishReason).toMatch(/^(stop|length|tool-calls|refusal)$/);
    expect(whole.reading.modelServed).not.toBeNull();
    expect(sumsOf(whole.reading.usage)).toEqual(sums(wireUsage(stream)));
  });

  test.each([1, 7, 64, 1_000])('reads the same in chunks of %i bytes', (chunkBytes) => {
    expect(read(stream, chunkBytes)).toEqual(whole);
  });
});

const ownAnswer = {
  name: 'our own',
  text: '{"type":"message","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
};

describe.each([ownAnswer, ...recordings('.json')])('answer $name', ({ text: body }) => {
  test('is read with its usage', () => {
    const answer = messages.readAnswer(encoder.encode(body), defaultDialect);
    if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
    const { usage } = parseAs<{ readonly usage: WireUsage }>(body);
    expect(sumsOf(answer.reading.usage)).toEqual(sums(usage));
    expect(answer.reading.finishReason).toMatch(/^(stop|length|tool-calls|refusal)$/);
  });
});
