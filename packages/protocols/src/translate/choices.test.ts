import { describe, expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { chatCompletionsCodec } from '../chat-completions/index.ts';
import { generateContentCodec } from '../generate-content/index.ts';
import { defaultDialect } from '../request.ts';
import { responsesCodec } from '../responses/index.ts';
import { translate } from '../translation.ts';
import type { Turn, TurnSettings } from '../turn.ts';
import { traceId, turnOf } from './turn.fixture.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const codecs = { chat: chatCompletionsCodec, native: generateContentCodec, responses: responsesCodec };
const dice = {
  kind: 'function',
  name: 'dice',
  namespace: null,
  description: '',
  parameters: null,
  strict: null,
  cacheTtl: null,
} as const;

interface Asked {
  readonly choices?: number;
  readonly framing?: 'sse' | 'json-array';
  readonly settings?: Partial<TurnSettings>;
  readonly tools?: Turn['tools'];
}

function ask(
  caller: keyof typeof codecs,
  upstream: keyof typeof codecs,
  { choices = 2, framing = 'sse', settings = {}, tools = [] }: Asked = {},
) {
  const { surface } = codecs[caller];
  const turn = turnOf({
    surface,
    settings: { choices, ...settings },
    tools,
    spelling: { choices: 'n', outputFormat: 'f' },
  });
  const target = {
    upstreamModel: 'm',
    path: '/{model}:{action}',
    dialect: defaultDialect,
    origin: 'o',
    maxOutputTokens: 99,
    reasoning: false,
  } as const;
  const context = {
    turn,
    traceId,
    createdS: 0,
    wantsUsageFrame: true,
    framing,
    inputTokensEstimate: 1,
  } as const;
  return translate({ caller: codecs[caller], upstream: codecs[upstream] }, target, context);
}

function asked(...args: Parameters<typeof ask>) {
  const translation = ask(...args);
  if (!translation.ok) throw new Error(translation.error.message);
  const stream = translation.value.openStream();
  return {
    whole: (answer: object) =>
      parseAs<WholeAnswer>(decoder.decode(translation.value.whole(encoder.encode(JSON.stringify(answer))))),
    streamed: (chunks: readonly object[]) => {
      const frames = chunks.map((chunk) => encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
      return [...frames.map((frame) => stream.frame(frame)), stream.end()]
        .map((bytes) => decoder.decode(bytes))
        .join('');
    },
  };
}

interface NativeCandidate {
  readonly index: number;
  readonly content?: {
    readonly parts: readonly { readonly text?: string; readonly functionCall?: object }[];
  };
  readonly finishReason?: string;
}

interface ChatChoice {
  readonly index: number;
  readonly message: { readonly content: string | null; readonly tool_calls?: readonly object[] };
  readonly delta: { readonly content?: string | null; readonly tool_calls?: readonly object[] };
  readonly finish_reason: string | null;
}

interface WholeAnswer {
  readonly choices?: readonly ChatChoice[];
  readonly candidates?: readonly NativeCandidate[];
  readonly usage?: { readonly completion_tokens: number } | null;
  readonly usageMetadata?: { readonly candidatesTokenCount: number };
}

function chunksIn(stream: string): readonly WholeAnswer[] {
  return stream
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => parseAs<WholeAnswer>(frame.slice('data: '.length)));
}

const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 9, totalTokenCount: 13 };
const usage = { prompt_tokens: 4, completion_tokens: 9, total_tokens: 13 };
const part = (index: number, more: object, finishReason?: string) => ({
  index,
  content: { parts: [more], role: 'model' },
  finishReason,
});
const delta = (index: number, more: object, finish_reason: string | null = null) => ({
  id: 'a',
  choices: [{ index, delta: more, finish_reason }],
});

/** The words of each answer, as a client puts them together, and why each ended. */
function nativeAnswers(chunks: readonly WholeAnswer[]) {
  const answers: { text: string; calls: number; finish: string[] }[] = [];
  for (const { index, content, finishReason } of chunks.flatMap(({ candidates = [] }) => candidates)) {
    const answer = answers[index] ?? { text: '', calls: 0, finish: [] };
    answers[index] = answer;
    for (const { text = '', functionCall } of content?.parts ?? []) {
      answer.text += text;
      if (functionCall !== undefined) answer.calls += 1;
    }
    if (finishReason !== undefined) answer.finish.push(finishReason);
  }
  return answers;
}

function chatAnswers(chunks: readonly WholeAnswer[]) {
  const answers: { text: string; calls: number; finish: string[] }[] = [];
  for (const { index, delta: said, finish_reason } of chunks.flatMap(({ choices = [] }) => choices)) {
    const answer = answers[index] ?? { text: '', calls: 0, finish: [] };
    answers[index] = answer;
    answer.text += said.content ?? '';
    answer.calls += said.tool_calls?.filter((call) => 'id' in call).length ?? 0;
    if (finish_reason !== null) answer.finish.push(finish_reason);
  }
  return answers;
}

describe('several answers for a chat caller from a native upstream', () => {
  test('whole, each in its place', () => {
    const answer = asked('chat', 'native').whole({
      candidates: [part(1, { text: 'two' }, 'MAX_TOKENS'), part(0, { text: 'one' }, 'STOP')],
      usageMetadata,
    });
    expect(answer.choices).toMatchObject([
      { index: 0, message: { content: 'one' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'two' }, finish_reason: 'length' },
    ]);
    expect(answer.usage?.completion_tokens).toBe(9);
  });

  test('streamed, mixed as they come, with one count and one end', () => {
    const stream = asked('chat', 'native', { tools: [dice] }).streamed([
      { candidates: [part(0, { text: 'on' }), part(1, { text: 'tw' })], usageMetadata },
      { candidates: [part(1, { functionCall: { name: 'dice', args: {} } }, 'STOP')], usageMetadata },
      { candidates: [part(0, { text: 'e' }, 'MAX_TOKENS')], usageMetadata },
    ]);
    expect(chatAnswers(chunksIn(stream))).toEqual([
      { text: 'one', calls: 0, finish: ['length'] },
      { text: 'tw', calls: 1, finish: ['tool_calls'] },
    ]);
    expect(stream.match(/"role":"assistant"/g)).toHaveLength(2);
    expect(chunksIn(stream).filter((chunk) => chunk.usage != null)).toMatchObject([
      { choices: [], usage: { completion_tokens: 9 } },
    ]);
    expect(stream.match(/\[DONE\]/g)).toHaveLength(1);
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('a prompt that was refused has one answer', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata };
    expect(asked('chat', 'native').whole(blocked).choices).toMatchObject([
      { index: 0, finish_reason: 'content_filter' },
    ]);
    const stream = asked('chat', 'native').streamed([blocked]);
    expect(chatAnswers(chunksIn(stream))).toEqual([{ text: '', calls: 0, finish: ['content_filter'] }]);
  });
});

describe('several answers for a native caller from a chat upstream', () => {
  test('whole, by their places where the upstream tells no indices', () => {
    const choice = (content: string, finish_reason: string) => ({
      message: { role: 'assistant', content },
      finish_reason,
    });
    const choices = [choice('one', 'stop'), choice('two', 'length')];
    const answer = asked('native', 'chat').whole({ id: 'a', choices, usage });
    expect(nativeAnswers([answer])).toEqual([
      { text: 'one', calls: 0, finish: ['STOP'] },
      { text: 'two', calls: 0, finish: ['MAX_TOKENS'] },
    ]);
    expect(answer.usageMetadata?.candidatesTokenCount).toBe(9);
  });

  const chunks = [
    delta(0, { role: 'assistant', content: 'on' }),
    delta(1, { role: 'assistant', content: 'tw' }),
    delta(1, { content: 'o' }),
    delta(1, {}, 'length'),
    delta(0, { content: 'e' }),
    delta(0, {}, 'stop'),
    { id: 'a', choices: [], usage },
  ];
  const expected = [
    { text: 'one', calls: 0, finish: ['STOP'] },
    { text: 'two', calls: 0, finish: ['MAX_TOKENS'] },
  ];

  test('streamed as events, with one count', () => {
    const told = chunksIn(asked('native', 'chat').streamed(chunks));
    expect(nativeAnswers(told)).toEqual(expected);
    expect(told.filter((chunk) => chunk.usageMetadata !== undefined)).toHaveLength(1);
    expect(told.at(-1)?.usageMetadata?.candidatesTokenCount).toBe(9);
  });

  test('streamed as one array', () => {
    const stream = asked('native', 'chat', { framing: 'json-array' }).streamed(chunks);
    expect(nativeAnswers(parseAs<WholeAnswer[]>(stream))).toEqual(expected);
  });
});

test('an answer that never came is not made up', () => {
  const chat = asked('chat', 'native', { choices: 4 });
  const only = { candidates: [part(0, { text: 'one' }, 'STOP')], usageMetadata };
  expect(chat.whole(only).choices).toHaveLength(1);
  expect(chatAnswers(chunksIn(chat.streamed([only])))).toEqual([{ text: 'one', calls: 0, finish: ['stop'] }]);
  const native = asked('native', 'chat', { choices: 4 });
  const stream = native.streamed([
    delta(0, { content: 'a' }),
    delta(2, { content: 'c' }),
    { choices: [], usage },
  ]);
  const told = chunksIn(stream);
  expect(told.at(-1)).toMatchObject({
    candidates: [{ index: 2 }],
    usageMetadata: { candidatesTokenCount: 9 },
  });
  expect(nativeAnswers(told).map((answer) => answer?.text)).toEqual(['a', undefined, 'c']);
});

test('a protocol without the word refuses it by the caller’s name, and one with it is asked first', () => {
  expect(ask('chat', 'responses')).toMatchObject({ ok: false, error: { param: 'n' } });
  const turn = turnOf({ surface: generateContentCodec.surface, settings: { choices: 2 } });
  const target = {
    upstreamModel: 'm',
    path: '/',
    dialect: defaultDialect,
    origin: 'o',
    maxOutputTokens: 99,
    reasoning: false,
  } as const;
  expect(chatCompletionsCodec.weighLosses(turn, target)).toBeLessThan(
    responsesCodec.weighLosses(turn, target),
  );
});
