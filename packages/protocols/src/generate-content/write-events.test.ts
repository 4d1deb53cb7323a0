import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import type { WriterContext } from '../codec.ts';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import { type Block, noSettings } from '../turn.ts';
import type { Finish, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { readerContext, turnOf, words, writerContext } from './contexts.fixture.ts';
import { readUsage } from './meter.ts';
import { NativeEventReader } from './read-events.ts';
import { readSignature, unsealedSignature } from './signature.ts';
import { NativeEventWriter, writeAnswer } from './write-events.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const usage = { ...noUsage, inputFresh: 10, inputCacheRead: 4, output: 7, outputReasoning: 2 };
const stopped: Finish = { reason: 'stop', rawReason: 'end_turn', stopSequence: null, usage };

function answerOf(content: readonly Block[], finish: Partial<Finish> = {}): TurnAnswer {
  return { answerId: 'a1', model: 'served', content, finish: { ...stopped, ...finish } };
}

interface Whole {
  readonly candidates: readonly {
    readonly content?: { readonly parts: readonly Record<string, unknown>[] };
    readonly finishReason?: string;
    readonly groundingMetadata?: object;
  }[];
  readonly usageMetadata?: object;
}

function whole(answer: TurnAnswer, context: Partial<WriterContext> = {}): Whole {
  return parseAs<Whole>(decoder.decode(writeAnswer(answer, writerContext(context))));
}

function partsOf(answer: TurnAnswer, context: Partial<WriterContext> = {}) {
  return whole(answer, context).candidates[0]?.content?.parts;
}

function stream(answer: TurnAnswer, context: Partial<WriterContext> = {}): string {
  const writer = new NativeEventWriter(writerContext(context));
  return [...answerEvents(answer)].map((event) => writer.write(event)).join('') + writer.end();
}

const call = (input: string): Block => ({
  kind: 'tool-call',
  id: 'c1',
  name: 'clock',
  namespace: null,
  form: 'function',
  input,
  sealed: { origin: 'abc', data: 'sig', form: 'signature' },
});
const shown = turnOf({
  settings: { ...noSettings, reasoning: { effort: null, budgetTokens: null, shown: true } },
});
const thought: Block = {
  kind: 'reasoning',
  text: 'Hm',
  sealed: { origin: 'abc', data: 'sig', form: 'signature' },
};

describe('an answer', () => {
  test('is written in full', () => {
    expect(whole(answerOf([words('Hello')]))).toEqual({
      candidates: [
        { content: { parts: [{ text: 'Hello' }], role: 'model' }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: {
        promptTokenCount: 14,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 2,
        totalTokenCount: 21,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 14 }],
        candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
      },
      modelVersion: 'served',
      responseId: 'a1',
    });
  });

  test.each<[Finish['reason'], string]>([
    ['stop', 'STOP'],
    ['tool-calls', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
    ['refusal', 'SAFETY'],
    ['error', 'OTHER'],
    ['unknown', 'STOP'],
  ])('that ended with %s says %s', (reason, finishReason) => {
    expect(whole(answerOf([], { reason })).candidates).toEqual([{ finishReason, index: 0 }]);
  });

  test('nobody counted has an input all the same', () => {
    expect(whole(answerOf([], { usage: null })).usageMetadata).toEqual({
      promptTokenCount: 9,
      totalTokenCount: 9,
    });
  });

  test('calls functions with objects', () => {
    const parts = partsOf(answerOf([call('{"zone":"UTC"}'), call(''), call('{"zone":')]));
    const args = parts?.map(({ functionCall }) => functionCall);
    expect(args).toEqual([{ zone: 'UTC' }, {}, {}].map((args) => ({ id: 'c1', name: 'clock', args })));
    expect(readSignature(parts?.[0]?.['thoughtSignature'])).toEqual({
      origin: 'abc',
      data: 'sig',
      form: 'signature',
    });
  });

  test.each([
    [
      'that were asked for',
      shown,
      [
        { text: 'Hm', thought: true },
        { text: 'Sure', thought: true },
      ],
    ],
    ['that were not, unless they are sealed', turnOf(), [{ text: 'Hm', thought: true }]],
  ])('shows thoughts %s', (_, turn, parts) => {
    const unsealed: Block = { kind: 'reasoning', text: 'Sure', sealed: null };
    expect(partsOf(answerOf([thought, unsealed]), { turn })).toMatchObject(parts);
  });

  test('names its sources by bytes, where positions are characters', () => {
    const citation = { url: 'https://a.example', title: null, quote: null, start: 0, end: 5 };
    const nameless = { ...citation, url: null };
    const cited = {
      ...words('Größe: 3 m'),
      citations: [citation, nameless, { ...citation, start: null, end: null }],
    };
    expect(whole(answerOf([words('Hm'), cited])).candidates[0]?.groundingMetadata).toEqual({
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'https://a.example' } }],
      groundingSupports: [
        { segment: { partIndex: 1, startIndex: 0, endIndex: 7, text: 'Größe' }, groundingChunkIndices: [0] },
        {
          segment: { partIndex: 1, startIndex: 0, endIndex: 12, text: 'Größe: 3 m' },
          groundingChunkIndices: [0],
        },
      ],
    });
  });

  test('has refusals as text and media as data', () => {
    const image: Block = {
      kind: 'media',
      media: 'image',
      mediaType: 'image/png',
      source: { kind: 'base64', data: 'AA==' },
      filename: null,
      detail: null,
      cacheTtl: null,
    };
    expect(partsOf(answerOf([{ kind: 'refusal', text: 'No' }, image]))).toEqual([
      { text: 'No' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    ]);
  });
});

describe('a stream', () => {
  const answer = answerOf([words('Hello'), call('{"n":1}')]);
  const chunks = [
    { candidates: [{ content: { parts: [{ text: 'Hello' }], role: 'model' }, index: 0 }] },
    { candidates: [{ content: { parts: [{ functionCall: { args: { n: 1 } } }] } }] },
    {
      candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
      usageMetadata: { totalTokenCount: 21 },
      modelVersion: 'served',
      responseId: 'a1',
    },
  ];

  test('of events ends with its last chunk', () => {
    const frames = stream(answer).split('\r\n\r\n');
    expect(frames.pop()).toBe('');
    expect(frames.map((frame) => parseAs(/^data: (\{.*\})$/.exec(frame)?.[1] ?? ''))).toMatchObject(chunks);
  });

  test('of elements is one array', () => {
    expect(parseAs(stream(answer, { framing: 'json-array' }))).toMatchObject(chunks);
    expect(parseAs(stream(answerOf([]), { framing: 'json-array' }))).toHaveLength(1);
  });

  test('that is cut is no whole array', () => {
    const writer = new NativeEventWriter(writerContext({ framing: 'json-array' }));
    const cut = [...answerEvents(answer)].map((event) => writer.write(event)).join('');
    expect(cut.startsWith('[{')).toBe(true);
    expect(cut.endsWith('}')).toBe(true);
  });

  test('has calls whole, however their arguments come', () => {
    const writer = new NativeEventWriter(writerContext());
    const events: readonly TurnEvent[] = [
      {
        kind: 'block-start',
        block: { kind: 'tool-call', id: 'c', name: 'f', namespace: null, form: 'function' },
      },
      { kind: 'delta', delta: { kind: 'text', text: '{"a":' } },
      { kind: 'delta', delta: { kind: 'text', text: '1}' } },
    ];
    expect(events.map((event) => writer.write(event))).toEqual(['', '', '']);
    expect(writer.write({ kind: 'block-stop' })).toContain(
      '{"functionCall":{"id":"c","name":"f","args":{"a":1}},"thoughtSignature":',
    );
  });

  const json = fc.object({ maxDepth: 2 }).map((value) => JSON.stringify(value));
  const filled = fc.string({ minLength: 1 });
  const block: fc.Arbitrary<Block> = fc.oneof(
    filled.map((text) => words(text)),
    filled.map((text): Block => ({ kind: 'reasoning', text, sealed: null })),
    json.map((input): Block => ({ ...call(input), sealed: null }) as Block),
  );
  /** Neighbours of one kind are one block on this wire. */
  const blocks = fc
    .array(block, { maxLength: 6 })
    .map((all) => all.filter(({ kind }, at) => kind === 'tool-call' || kind !== all[at - 1]?.kind));

  /** As an upstream would have sealed it: our mark is a seal like any other to whoever does not know it. */
  function marked(block: Block): Block {
    const sealed = { origin: readerContext.origin, data: unsealedSignature(), form: 'signature' } as const;
    return block.kind === 'tool-call' ? { ...block, sealed } : block;
  }

  test('is read again as it was written, and as the whole answer is', () => {
    fc.assert(
      fc.property(blocks, (content) => {
        const written = answerOf(
          content,
          content.some(({ kind }) => kind === 'tool-call') ? { reason: 'tool-calls' } : {},
        );
        const read = (body: string) => {
          const reader = new NativeEventReader(readerContext);
          const frames = body.split(/(?<=\r\n\r\n)/).map((frame) => encoder.encode(frame));
          return collectAnswer([...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]);
        };
        const again = read(stream(written, { turn: shown }));
        const context = writerContext({ turn: shown });
        const finish = { ...written.finish, rawReason: 'STOP' };
        expect(again).toMatchObject({ ...written, content: content.map(marked), finish });
        expect(read(`data: ${decoder.decode(writeAnswer(written, context))}\r\n\r\n`)).toEqual(again);
      }),
    );
  });
});

test('usage is read as it was written', () => {
  const tokens = fc.nat(1_000_000);
  fc.assert(
    fc.property(fc.tuple(tokens, tokens, tokens, tokens, tokens, tokens, tokens), (counts) => {
      const [inputFresh, inputCacheRead, inputAudio, inputImage, output, outputAudio, outputImage] = counts;
      const some = { inputFresh, inputCacheRead, inputAudio, inputImage, output, outputAudio, outputImage };
      const used = { ...noUsage, ...some, outputReasoning: Math.floor(output / 2) };
      const { usageMetadata } = whole(answerOf([], { usage: used }));
      expect(readUsage(usageMetadata)).toEqual(used);
    }),
  );
});
