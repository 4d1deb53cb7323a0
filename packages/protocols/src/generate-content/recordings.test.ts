import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../test/support/reference.ts';
import { JsonArraySplitter } from '../bytes/json-array.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { Reading } from '../protocol.ts';
import { defaultDialect, type StreamFraming } from '../request.ts';
import { totalInput, totalOutput } from '../usage.ts';
import { generateContent } from './index.ts';
import { array, chunk, counted, events, text } from './stream-frames.fixture.ts';

/** Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). */
const data = new URL('js-genai-recordings/', reference);
tellMissing('recorded answers', ['js-genai-recordings/']);
const encoder = new TextEncoder();
const framings: readonly StreamFraming[] = ['sse', 'json-array'];

interface WireChunk {
  readonly error?: unknown;
  readonly usageMetadata?: Readonly<Record<string, number | undefined>>;
}

interface Interaction {
  readonly request: { readonly url: string };
  readonly response: { readonly statusCode: number; readonly bodySegments?: readonly WireChunk[] };
}

interface Recording {
  readonly name: string;
  readonly chunks: readonly WireChunk[];
}

function recordings(action: string): readonly Recording[] {
  if (!existsSync(data)) return [];
  const files = readdirSync(data).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const { interactions } = parseAs<{ readonly interactions: readonly Interaction[] }>(
      readFileSync(new URL(name, data), 'utf8'),
    );
    return interactions.flatMap(({ request, response }, index) => {
      const isWanted = request.url.includes(`:${action}`) && response.statusCode === 200;
      return isWanted ? [{ name: `${name} ${index}`, chunks: response.bodySegments ?? [] }] : [];
    });
  });
}

/** The sums of the last usage by plain addition, to hold the meter against. */
function sumsOf(chunks: readonly WireChunk[]) {
  const counts = chunks.findLast(({ usageMetadata }) => usageMetadata !== undefined)?.usageMetadata ?? {};
  const { promptTokenCount = 0, toolUsePromptTokenCount = 0 } = counts;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0, totalTokenCount } = counts;
  const input = promptTokenCount + toolUsePromptTokenCount;
  const output = candidatesTokenCount + thoughtsTokenCount;
  return { input, output, total: totalTokenCount };
}

function expectSums({ usage }: Reading, chunks: readonly WireChunk[]): void {
  if (usage === null) throw new Error('no usage');
  const [input, output] = [totalInput(usage), totalOutput(usage)];
  expect({ input, output, total: input + output }).toEqual(sumsOf(chunks));
}

function read(stream: string, framing: StreamFraming, chunkBytes: number) {
  const bytes = encoder.encode(stream);
  const reader = generateContent.openStream(defaultDialect, framing);
  const splitter = framing === 'sse' ? new SseSplitter() : new JsonArraySplitter(1 << 22);
  let roles = '';
  const take = (frame: Uint8Array) => {
    roles += reader.read(frame)[0];
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) splitter.push(bytes.slice(at, at + chunkBytes), take);
  if (framing === 'json-array') take(splitter.rest());
  return { roles, reader };
}

const own: Recording = { name: 'our own', chunks: [text('Hi', counted), chunk([], 'STOP', counted)] };
const streams = [own, ...recordings('streamGenerateContent')].filter(
  ({ chunks }) => chunks.length > 0 && chunks.every(({ error }) => error === undefined),
);

describe.each(streams)('stream $name', ({ chunks }) => {
  test.each(framings)('is whole as %s, with its usage, however it is cut', (framing) => {
    const stream = framing === 'sse' ? events(chunks) : array(chunks);
    const { roles, reader } = read(stream, framing, 1 << 22);
    expect(roles).toContain('c');
    expect(roles.endsWith('t') || reader.isWholeWithoutTerminal()).toBe(true);
    expect(reader.reading.finishReason).toMatch(/^(stop|length|tool-calls)$/);
    expectSums(reader.reading, chunks);
    for (const chunkBytes of [3, 64]) {
      const cut = read(stream, framing, chunkBytes);
      expect(cut.roles).toBe(roles);
      expectSums(cut.reader.reading, chunks);
      expect(cut.reader.reading.outputBytes).toBe(reader.reading.outputBytes);
      expect(reader.reading.usageAtOutputBytes).toBe(reader.reading.outputBytes);
    }
  });
});

describe.each([{ ...own, chunks: own.chunks.slice(0, 1) }, ...recordings('generateContent')])(
  'answer $name',
  ({ chunks }) => {
    test('is read with its usage', () => {
      const body = encoder.encode(JSON.stringify(chunks[0]));
      const answer = generateContent.readAnswer(body, defaultDialect);
      if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
      expectSums(answer.reading, chunks);
    });
  },
);
