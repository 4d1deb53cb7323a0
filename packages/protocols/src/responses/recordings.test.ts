import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import { defaultDialect } from '../inbound-request.ts';
import type { FrameRole } from '../protocol.ts';
import { parseJson } from '../refusal.ts';
import { totalInput, totalOutput, type Usage } from '../usage.ts';
import { responses } from './index.ts';
import { completed, created, openText, response, text } from './stream-frames.fixture.ts';

/** Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). */
const data = new URL('../../../../../shared/protocols/data/vercel-ai/', import.meta.url);
const folders = ['openai', 'xai', 'open-responses'].map((vendor) => `${vendor}/src/responses/__fixtures__/`);
const encoder = new TextEncoder();

interface Recording {
  readonly name: string;
  readonly text: string;
}

function recordings(ending: string): readonly Recording[] {
  return folders
    .map((folder) => new URL(folder, data))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)))
    .filter(({ pathname }) => pathname.endsWith(ending))
    .map((file) => ({ name: file.pathname.split('/').slice(-1).join(), text: readFileSync(file, 'utf8') }));
}

interface WireResponse {
  readonly status?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

interface WireEvent {
  readonly type: string;
  readonly response?: WireResponse;
}

const own = { name: 'our own', text: [created, openText, text('a'), completed].join('') };
// One of the recordings was written by hand and is no JSON.
const streams = [
  own,
  ...recordings('.chunks.txt')
    .filter(({ text: lines }) => eventsIn(lines).every(isJson))
    .map(framed),
];

function framed({ name, text: lines }: Recording): Recording {
  const frames = eventsIn(lines).map((line) => `event: ${parseAs<WireEvent>(line).type}\ndata: ${line}\n\n`);
  return { name, text: frames.join('') };
}

function eventsIn(lines: string): readonly string[] {
  return lines.trim().split('\n');
}

function isJson(line: string): boolean {
  return parseJson(line) !== undefined;
}

function read(stream: string, chunkBytes: number) {
  const bytes = encoder.encode(stream);
  const reader = responses.openStream(defaultDialect);
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    splitter.push(bytes.slice(at, at + chunkBytes), (frame) => roles.push(reader.read(frame)));
  }
  const { usage, finishReason, modelServed, answerId, hasOutput, outputBytes } = reader.reading;
  const reading = { usage, finishReason, modelServed, answerId, hasOutput, outputBytes };
  return { roles, reading, refusal: reader.refusal };
}

function lastResponse(stream: string): WireResponse {
  const events = stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => parseAs<WireEvent>(line.slice('data: '.length)));
  return events.findLast((event) => event.response !== undefined)?.response ?? {};
}

function sumsOf(usage: Usage | null) {
  return usage === null ? null : { input: totalInput(usage), output: totalOutput(usage) };
}

function wireSums({ usage }: WireResponse) {
  return usage ? { input: usage.input_tokens, output: usage.output_tokens } : null;
}

describe.each(streams)('stream $name', ({ text: stream }) => {
  const whole = read(stream, 1 << 20);
  const last = lastResponse(stream);

  test('is what its end says it is, with its usage', () => {
    expect(sumsOf(whole.reading.usage)).toEqual(wireSums(last));
    expect(whole.reading.modelServed).not.toBeNull();
    expect(whole.reading.answerId).toMatch(/\w/);
    if (last.status === 'failed') {
      expect(whole.refusal).not.toBeNull();
      return;
    }
    expect(whole.refusal).toBeNull();
    expect(whole.roles.at(-1)).toBe('terminal');
    expect(whole.roles).toContain('content');
    expect(whole.reading.finishReason).toMatch(/^(stop|length|tool-calls|refusal)$/);
  });

  test.each([1, 7, 64, 1_000])('reads the same in chunks of %i bytes', (chunkBytes) => {
    // One byte at a time a long recording costs seconds and shows nothing that a short one does not.
    expect(read(stream.slice(0, 20_000 * chunkBytes), chunkBytes)).toEqual(
      read(stream.slice(0, 20_000 * chunkBytes), 1 << 20),
    );
  });
});

const ownAnswer = { name: 'our own', text: JSON.stringify(response()) };

describe.each([ownAnswer, ...recordings('.json')])('answer $name', ({ text: body }) => {
  test('is read with its usage, or as the error it is', () => {
    const answer = responses.readAnswer(encoder.encode(body), defaultDialect);
    const wire = parseAs<WireResponse & { readonly error?: unknown }>(body);
    if (wire.status === undefined) {
      expect(answer).toMatchObject({ kind: 'refusal' });
      expect(answer).not.toMatchObject({ refusal: { kind: 'garbled' } });
      return;
    }
    if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
    expect(sumsOf(answer.reading.usage)).toEqual(wireSums(wire));
    expect(answer.reading.hasOutput).toBe(true);
    expect(answer.reading.finishReason).toMatch(/^(stop|length|tool-calls|refusal)$/);
  });
});
