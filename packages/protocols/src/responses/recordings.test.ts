import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../test/support/reference.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import { parseJson } from '../refusal.ts';
import { defaultDialect } from '../request.ts';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import type { TurnAnswer } from '../turn-event.ts';
import { totalInput, totalOutput, type Usage } from '../usage.ts';
import { isRecord, listOf, recordOf, type WireRecord } from '../wire-values.ts';
import { frameOf, framesOf, readerContext, readFrames, writeEvents, writerContext } from './codec.fixture.ts';
import { responses, responsesCodec } from './index.ts';
import { completed, created, openText, response, text } from './stream-frames.fixture.ts';

/** Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). */
const data = new URL('vercel-ai/', reference);
tellMissing('recorded answers', ['vercel-ai/']);
const folders = ['openai', 'xai', 'open-responses'].map((vendor) => `${vendor}/src/responses/__fixtures__/`);
const encoder = new TextEncoder();

interface Recording {
  readonly name: string;
  readonly text: string;
}

function recordings(ending: string, vendorFolders = folders): readonly Recording[] {
  return vendorFolders
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

const everyFolder = ['openai', 'azure', 'xai', 'open-responses'].flatMap((vendor) => [
  `${vendor}/src/responses/__fixtures__/`,
  `${vendor}/src/__fixtures__/`,
]);

const item = { type: 'message', content: [{ type: 'output_text', text: 'hi', annotations: [] }] };
const shortAnswer = { id: 'r', model: 'm', status: 'completed', output: [item], usage: { input_tokens: 1 } };
const shortRecording = { name: 'our own', text: JSON.stringify(shortAnswer) };
const ownStream = {
  name: 'our own',
  text: JSON.stringify({ type: 'response.completed', response: shortAnswer }),
};

const wholes = [shortRecording, ...recordings('.json', everyFolder)].filter(({ text }) =>
  Array.isArray(recordOf(parseJson(text))['output']),
);
/** Whoever recorded these kept the first deltas only. */
const shortened = ['openai-phase.1.chunks.txt', 'openai-shell-container.1.chunks.txt'];

interface Stream {
  readonly name: string;
  readonly events: readonly WireRecord[];
}

const everyStream = [ownStream, ...recordings('.chunks.txt', everyFolder)]
  .filter(({ name }) => !shortened.includes(name))
  .flatMap(answersIn)
  .filter(({ events }) => events.at(-1)?.['type'] === 'response.completed');

/** The answers of a recording, of which some hold a whole conversation. */
function answersIn({ name, text }: Recording): readonly Stream[] {
  const answers: Stream[] = [];
  let events: WireRecord[] = [];
  for (const line of text.split('\n')) {
    const event = parseJson(line);
    if (!isRecord(event)) continue;
    if (event['type'] === 'response.created' || answers.length === 0) {
      events = [];
      answers.push({ name, events });
    }
    events.push(event);
  }
  return answers;
}

function readWhole(value: unknown): TurnAnswer {
  return responsesCodec.readAnswer(new TextEncoder().encode(JSON.stringify(value)), readerContext());
}

/** The answer as a caller of this protocol would have it, read again; its state is sealed for the way and has ids of ours. */
function plain({ content }: TurnAnswer) {
  return content.map((block) => {
    if (block.kind !== 'text')
      return { ...block, ...('sealed' in block ? { sealed: block.sealed !== null } : {}) };
    const citations = block.citations.map(({ url, title }) => ({ url, title: title ?? '' }));
    return { ...block, citations };
  });
}

describe('recorded answers', () => {
  test.each(wholes)('$name decodes and is said again', ({ text }) => {
    const answer = readWhole(parseJson(text));
    expect(answer.finish.reason).not.toBe('unknown');
    const again = responsesCodec.writeAnswer(answer, writerContext());
    expect(plain(responsesCodec.readAnswer(again, readerContext()))).toEqual(plain(answer));
  });

  test.each(everyStream)('$name is the same streamed and whole, and is said again', ({ events }) => {
    const streamed = collectAnswer(readFrames(events.map(frameOf)));
    const last = recordOf(events.at(-1)?.['response']);
    const whole = readWhole(last);
    // One server's last event repeats no items.
    if (listOf(last['output']).length > 0) expect(plain(streamed)).toEqual(plain(whole));
    expect(streamed.finish.usage).toEqual(whole.finish.usage);
    const again = collectAnswer(readFrames(framesOf(writeEvents(answerEvents(streamed)))));
    expect(plain(again)).toEqual(plain(streamed));
  });
});
