import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReaderContext } from '../codec.ts';
import { collectAnswer } from '../translate/answer.ts';
import type { TurnAnswer } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { readerContext, traceId } from './contexts.fixture.ts';
import { NativeEventReader, readTurnAnswer as readAnswer } from './read-events.ts';
import { chunk, counted, events, text } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();

function readWhole(body: unknown, context: Partial<ReaderContext> = {}): TurnAnswer {
  return readAnswer(encoder.encode(JSON.stringify(body)), { ...readerContext, ...context });
}

function readStream(chunks: readonly object[]): TurnAnswer {
  const reader = new NativeEventReader(readerContext);
  const read = chunks.flatMap((each) => reader.read(encoder.encode(events([each]))));
  return collectAnswer([...read, ...reader.end()]);
}

const words = (said: string) => ({ kind: 'text', text: said });
const seal = (data: string) => ({ origin: 'here', data, form: 'signature' });

describe('an answer', () => {
  test('is read in full', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { text: 'So', thoughtSignature: 'c2ln' },
      { functionCall: { id: 'c1', name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: 'Y2FsbA==' },
      { functionCall: { name: 'dice' } },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    ];
    expect(readWhole({ ...chunk(parts, 'STOP', counted), responseId: 'r1' })).toMatchObject({
      answerId: 'r1',
      model: 'served',
      content: [
        { kind: 'reasoning', text: 'Hm', sealed: null },
        words('So'),
        { kind: 'reasoning', text: '', sealed: seal('c2ln') },
        { kind: 'tool-call', id: 'c1', name: 'clock', input: '{"zone":"UTC"}', sealed: seal('Y2FsbA==') },
        { kind: 'tool-call', id: `call_${traceId}_1`, name: 'dice', input: '{}', sealed: null },
        { kind: 'media', media: 'image', mediaType: 'image/png', source: { kind: 'base64', data: 'AA==' } },
      ],
      finish: { reason: 'tool-calls', rawReason: 'STOP', usage: { ...noUsage, inputFresh: 3, output: 4 } },
    });
  });

  test.each<[object, string, string | null]>([
    [chunk([{ text: 'a' }], 'MAX_TOKENS'), 'length', 'MAX_TOKENS'],
    [{ candidates: [{ finishReason: 'SAFETY' }] }, 'content-filter', 'SAFETY'],
    [{ candidates: [{ finishReason: 'MODEL_ARMOR' }] }, 'content-filter', 'MODEL_ARMOR'],
    [chunk([], 'MALFORMED_FUNCTION_CALL'), 'error', 'MALFORMED_FUNCTION_CALL'],
    [chunk([{ functionCall: { name: 'f' } }], 'MAX_TOKENS'), 'length', 'MAX_TOKENS'],
    [chunk([{ functionCall: { name: 'f' } }]), 'tool-calls', null],
    [{ promptFeedback: { blockReason: 'OTHER' } }, 'content-filter', 'OTHER'],
    [{ candidates: [], promptFeedback: { blockReason: 'JAILBREAK' } }, 'content-filter', 'JAILBREAK'],
    [chunk([], 'NEW_WORD'), 'unknown', 'NEW_WORD'],
  ])('%j ends with %s', (body, reason, rawReason) => {
    expect(readWhole(body).finish).toMatchObject({ reason, rawReason });
  });

  test('is that of the first candidate', () => {
    const second = { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'SAFETY' };
    const first = { content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' };
    expect(readWhole({ candidates: [second, first] })).toMatchObject({
      content: [words('a')],
      finish: { reason: 'stop' },
    });
  });

  test('calls tools by the names the caller knows', () => {
    const names = new Map([
      ['a_1', { name: 'a', namespace: 'x', form: 'function' as const }],
      ['patch', { name: 'patch', namespace: null, form: 'custom' as const }],
    ]);
    const parts = [
      { functionCall: { name: 'a_1', args: { n: 1 } } },
      { functionCall: { name: 'patch', args: { input: 'x y' } } },
    ];
    expect(readWhole(chunk(parts, 'STOP'), { names }).content).toMatchObject([
      { name: 'a', namespace: 'x', input: '{"n":1}' },
      { name: 'patch', form: 'custom', input: 'x y' },
    ]);
  });

  test('names its sources by characters, where the wire counts bytes', () => {
    const grounded = {
      content: { parts: [{ text: 'Größe: 3 m' }] },
      finishReason: 'STOP',
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
        groundingSupports: [{ segment: { endIndex: 7, text: 'Größe' }, groundingChunkIndices: [0, 9] }],
      },
      citationMetadata: { citationSources: [{ startIndex: 9, endIndex: 12, uri: 'https://b.example' }] },
    };
    expect(readWhole({ candidates: [grounded] }).content).toMatchObject([
      {
        citations: [
          { url: 'https://a.example', title: 'A', quote: 'Größe', start: 0, end: 5 },
          { url: 'https://b.example', title: null, start: 7, end: 10 },
        ],
      },
    ]);
  });
});

describe('a stream', () => {
  test('has the usage of its last chunk, and of the input before there is any output', () => {
    const reader = new NativeEventReader(readerContext);
    const first = encoder.encode(events([text('a', counted)]));
    expect(reader.read(first)[0]).toMatchObject({ kind: 'start', usage: { inputFresh: 3, output: 0 } });
    const last = { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9 } };
    reader.read(encoder.encode(events([chunk([{ text: '' }], 'STOP', last)])));
    reader.read(encoder.encode(events([{ usageMetadata: { trafficType: 'ON_DEMAND' } }])));
    expect(reader.end()).toMatchObject([
      { kind: 'block-stop' },
      { kind: 'finish', usage: { inputFresh: 3, output: 9 } },
    ]);
  });

  test('names a source once, however often it is said', () => {
    const citationMetadata = { citations: [{ uri: 'https://a.example', startIndex: 0, endIndex: 1 }] };
    const cited = (said: string) => ({
      candidates: [{ content: { parts: [{ text: said }] }, citationMetadata }],
    });
    const { content } = readStream([cited('a'), cited('b')]);
    expect(content).toMatchObject([{ text: 'ab', citations: [{ url: 'https://a.example' }] }]);
    expect(content[0]).toHaveProperty('citations.length', 1);
  });

  test('keeps a seal that comes behind the text', () => {
    const chunks = [text('Hel'), text('lo'), chunk([{ text: '', thoughtSignature: 'c2ln' }], 'STOP')];
    expect(readStream(chunks).content).toMatchObject([
      words('Hello'),
      { kind: 'reasoning', text: '', sealed: seal('c2ln') },
    ]);
  });

  const started = { functionCall: { id: 'c', name: 'f', willContinue: true }, thoughtSignature: 'c2ln' };
  const piece = (jsonPath: string, value: object) => ({
    functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
  });
  const pieces = [
    piece('$.steps[0].name', { stringValue: 'st', willContinue: true }),
    piece('$.steps[0].name', { stringValue: 'ir' }),
    piece("$['count']", { numberValue: 2 }),
    piece('$.__proto__.x', { boolValue: true }),
    piece('$.none', { nullValue: 'NULL_VALUE' }),
  ];
  const input = '{"steps":[{"name":"stir"}],"count":2,"__proto__":{"x":true},"none":null}';
  test.each([
    ['is ended', [...pieces, { functionCall: {} }]],
    ['is not ended', pieces],
  ])('puts a call together whose arguments come in pieces and that %s', (_, parts) => {
    const { content } = readStream([started, ...parts].map((part) => chunk([part])));
    expect(content).toMatchObject([{ kind: 'tool-call', id: 'c', name: 'f', input, sealed: seal('c2ln') }]);
    expect(content).toHaveLength(1);
  });
});

const part = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ text: fc.string(), thought: fc.boolean() }),
  fc.record({ text: fc.string(), thoughtSignature: fc.constantFrom('', 'c2ln') }),
  fc.record({
    functionCall: fc.record({ name: fc.constantFrom('f', 'g'), args: fc.object({ maxDepth: 1 }) }),
  }),
  fc.record({ executableCode: fc.record({ code: fc.string() }) }),
  fc.constant({ inlineData: { mimeType: 'image/png', data: 'AA==' } }),
);

test('whole or in chunks, an answer is the same', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const whole = { ...chunk(parts, 'STOP', counted), responseId: 'r' };
      const last = { ...chunk([], 'STOP', counted), responseId: 'r' };
      const chunks = parts.map((each) => ({ ...chunk([each]), responseId: 'r', modelVersion: 'served' }));
      expect(readStream([...chunks, last])).toEqual(readWhole(whole));
    }),
  );
});

test('nothing an upstream can send makes reading throw', () => {
  const keys = fc.constantFrom(
    'text',
    'functionCall',
    'name',
    'args',
    'partialArgs',
    'jsonPath',
    'inlineData',
  );
  const wild = fc.array(fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 })), { maxLength: 4 });
  fc.assert(
    fc.property(wild, fc.jsonValue(), fc.jsonValue(), (parts, metadata, odd) => {
      const candidate = { content: { parts }, groundingMetadata: metadata, citationMetadata: odd };
      const body = { candidates: [candidate, odd], usageMetadata: metadata, promptFeedback: odd };
      expect(readWhole(body).finish).toBeDefined();
      expect(readWhole(odd).finish).toBeDefined();
    }),
  );
});
