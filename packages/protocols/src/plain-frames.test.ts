import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concatBytes } from './bytes/splice.ts';
import { SseSplitter } from './bytes/sse.ts';
import type { Codec } from './codec.ts';
import { type Protocol, protocols } from './protocols.ts';
import { defaultDialect } from './request.ts';
import { traceId, turnOf } from './translate/turn.fixture.ts';
import { StreamTranslator } from './translation.ts';
import type { OpenBlock, TurnEvent } from './turn-event.ts';
import { noUsage } from './usage.ts';

/*
 * Frames that differ in their text alone are taken without being walked through, several at once, and translated without being
 * parsed: whatever comes of it must be what comes of reading each of them.
 */

const encoder = new TextEncoder();
const context = {
  turn: turnOf({}),
  traceId,
  createdS: 0,
  wantsUsageFrame: true,
  framing: 'sse',
  inputTokensEstimate: 5,
} as const;
const readerContext = { origin: 'here', dialect: defaultDialect, names: new Map(), traceId };

const translated = Object.values(protocols).flatMap((protocol): (readonly [Protocol, Codec])[] =>
  protocol?.codec ? [[protocol, protocol.codec]] : [],
);

const call = { kind: 'tool-call', id: 'call_1', name: 'look', namespace: null, form: 'function' } as const;
const kinds: readonly OpenBlock[] = [{ kind: 'text' }, { kind: 'reasoning' }, { kind: 'text' }, call];
const words = fc.string({
  unit: fc.constantFrom('a', ' ', '"', '\\', '\n', 'é', '🦊', '{', '1'),
  maxLength: 12,
});
const block = fc.tuple(fc.constantFrom(...kinds), fc.array(words, { maxLength: 6 }));
const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 });

/** The stream of an upstream that says this. */
function streamOf(codec: Codec, blocks: readonly (readonly [OpenBlock, readonly string[]])[]): Uint8Array {
  const writer = codec.openWriter(context);
  const events: TurnEvent[] = [
    { kind: 'start', answerId: 'an', model: 'm', usage: null },
    ...blocks.flatMap(([opened, texts]): TurnEvent[] => [
      { kind: 'block-start', block: opened },
      ...texts.map((text): TurnEvent => ({ kind: 'delta', delta: { kind: 'text', text } })),
      { kind: 'block-stop' },
    ]),
    { kind: 'finish', reason: 'stop', rawReason: null, stopSequence: null, usage: { ...noUsage, output: 9 } },
  ];
  return encoder.encode(events.map((event) => writer.write(event)).join('') + writer.end());
}

function chunksOf(stream: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, n = 0; at < stream.length; n++) {
    const end = at + (lengths[n % lengths.length] ?? 1);
    chunks.push(stream.subarray(at, end));
    at = end;
  }
  return chunks;
}

function framesOf(stream: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  new SseSplitter().push(stream, (frame) => frames.push(frame));
  return frames;
}

test.each(translated)('$id: frames taken in a row are those that are read one by one', (protocol, codec) => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), cuts, (blocks, lengths) => {
      const stream = streamOf(codec, blocks);
      const alone = framesOf(stream).map((frame) => {
        const reader = protocol.openStream(defaultDialect);
        reader.read(frame);
        return reader.reading.outputBytes;
      });
      const one = protocol.openStream(defaultDialect);
      for (const frame of framesOf(stream)) one.read(frame);
      const row = protocol.openStream(defaultDialect);
      const splitter = new SseSplitter();
      const relayed: Uint8Array[] = [];
      const take = (chunk: Uint8Array, at: number) => {
        const end = row.takeTexts?.(chunk, at) ?? at;
        relayed.push(chunk.slice(at, end));
        return end;
      };
      for (const chunk of chunksOf(stream, lengths)) {
        const onFrame = (frame: Uint8Array) => {
          row.read(frame);
          relayed.push(frame.slice());
        };
        expect(splitter.push(chunk, onFrame, take)).toBe(true);
      }
      expect(concatBytes([...relayed, splitter.rest()])).toEqual(stream);
      const summary = ({ outputBytes, usage, finishReason, hasOutput }: typeof row.reading) => {
        return { outputBytes, usage, finishReason, hasOutput };
      };
      expect(summary(row.reading)).toEqual(summary(one.reading));
      if (protocol.id !== 'responses')
        expect(one.reading.outputBytes).toBe(alone.reduce((sum, bytes) => sum + bytes, 0));
    }),
  );
});

const lanes = translated.flatMap(([upstream, from]) =>
  translated
    .filter(([caller]) => caller !== upstream)
    .map(([caller, to]) => [upstream.id, caller.id, upstream, from, to] as const),
);

test.each(lanes)(
  '%s to %s: a frame like the last one becomes what it would alone',
  (_, __, upstream, from, to) => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
        const translator = () => new StreamTranslator(from.openReader(readerContext), to.openWriter(context));
        const [plain, whole] = [translator(), translator()];
        const reader = upstream.openStream(defaultDialect);
        for (const frame of framesOf(streamOf(from, blocks))) {
          reader.read(frame);
          expect(plain.text(frame, reader.plain)).toBe(whole.text(frame));
        }
        expect(plain.end()).toEqual(whole.end());
      }),
    );
  },
);

test.each(translated)('$id: nearly all of a stream is taken without reading', (protocol, codec) => {
  const texts = Array.from({ length: 100 }, (_, index) => ` word ${index}`);
  const stream = streamOf(codec, [[{ kind: 'text' }, texts]]);
  const reader = protocol.openStream(defaultDialect);
  let read = 0;
  const onFrame = (frame: Uint8Array) => {
    read++;
    reader.read(frame);
  };
  new SseSplitter().push(stream, onFrame, (chunk, at) => reader.takeTexts?.(chunk, at) ?? at);
  expect(read).toBeLessThan(20);
});
