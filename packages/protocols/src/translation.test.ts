import { expect, test } from 'vitest';
import { chatCompletionsCodec } from './chat-completions/index.ts';
import { chatSurface } from './chat-completions/wire.ts';
import type { AskedModel, TranslationTarget } from './codec.ts';
import { messagesCodec } from './messages/index.ts';
import { messagesSurface } from './messages/wire.ts';
import { defaultDialect } from './request.ts';
import { text, traceId, turnOf } from './translate/turn.fixture.ts';
import { translate } from './translation.ts';
import { noSettings, type Turn, type TurnSettings } from './turn.ts';

const target = {
  upstreamModel: 'upstream',
  path: '/chat/completions',
  dialect: defaultDialect,
  origin: 'here',
  maxOutputTokens: null,
  reasoning: false,
};

function modelOf(reasoning: Partial<AskedModel['reasoning']>, rest: Partial<AskedModel> = {}): AskedModel {
  const unsaid = { mode: 'optional', efforts: null, defaultEffort: null, budget: null } as const;
  return { reasoning: { ...unsaid, ...reasoning }, parameters: {}, inputModalities: null, ...rest };
}

function contextOf(turn: Turn, inputTokensEstimate = 0) {
  const context = { turn, traceId, createdS: 0, wantsUsageFrame: false, framing: 'sse' } as const;
  return { ...context, inputTokensEstimate };
}

function translated(messages: number) {
  const said = Array.from(
    { length: messages },
    () => ({ role: 'user', content: [text('a')], name: null }) as const,
  );
  const context = contextOf(turnOf({ messages: said }));
  return translate({ caller: messagesCodec, upstream: chatCompletionsCodec }, target, context);
}

/** What a caller of chat completions has sent to a target of messages. */
function sentToMessages(settings: Partial<TurnSettings>, asked: Partial<TranslationTarget>, estimate = 0) {
  const turn = turnOf({ surface: chatSurface, settings: { ...noSettings, ...settings } });
  const languages = { caller: chatCompletionsCodec, upstream: messagesCodec };
  const written = translate(languages, { ...target, ...asked }, contextOf(turn, estimate));
  if (!written.ok) throw new Error(written.error.message);
  const { request, losses } = written.value;
  return { body: JSON.parse(Buffer.concat(request.body).toString()) as unknown, losses };
}

test.each([
  // Limit of the model, window, estimate of the prompt, limit that is sent.
  [64_000, 200_000, 1_000, 64_000],
  [64_000, 200_000, 140_000, 25_000],
  [64_000, 200_000, 190_000, 8_192],
  [131_072, 8_192, 100, 8_067],
  [131_072, 8_192, 7_000, 4_096],
  [null, 4_096, 1_000, 2_846],
  [64_000, null, 190_000, 64_000],
])(
  'a limit that nobody asked for leaves room for the prompt: %j of %j behind %j',
  (maxOutputTokens, contextWindow, estimate, sent) => {
    const { body, losses } = sentToMessages({}, { maxOutputTokens, contextWindow }, estimate);
    expect(body).toMatchObject({ max_tokens: sent });
    expect(losses).toEqual([]);
    const asked = sentToMessages({ maxOutputTokens: 50 }, { maxOutputTokens, contextWindow }, estimate);
    expect(asked.body).toMatchObject({ max_tokens: 50 });
  },
);

test('a model that always thinks is not told not to, and the caller hears of it', () => {
  const reasoning = { effort: 'none', budgetTokens: null, shown: null } as const;
  expect(sentToMessages({ reasoning }, { reasoning: true }).body).toMatchObject({
    thinking: { type: 'disabled' },
  });
  const { body, losses } = sentToMessages({ reasoning }, { reasoning: 'always' });
  expect(body).not.toHaveProperty('thinking');
  expect(losses).toEqual([{ field: 'reasoning', action: 'changed', note: 'the model always thinks' }]);
});

test('so many messages are translated, and more are refused before anything is done', () => {
  expect(translated(10_000).ok).toBe(true);
  expect(translated(10_001)).toMatchObject({ ok: false, error: { status: 400, param: 'messages' } });
});

test.each([
  ['asked', null, { temperature: 0.2, stop: ['x'] }, []],
  ['asked', 'high', {}, ['temperature']],
  [true, null, {}, ['temperature']],
] as const)(
  'a model whose habit is %j samples as it is told while %j thought is asked for',
  (reasoning, effort, members, lost) => {
    const settings = {
      ...noSettings,
      temperature: 0.2,
      stop: lost.length === 0 ? ['x'] : null,
      reasoning: effort === null ? null : { effort, budgetTokens: null, shown: null },
    };
    const dialect = { ...defaultDialect, chatVocabulary: 'own' } as const;
    const languages = { caller: messagesCodec, upstream: chatCompletionsCodec };
    const turn = turnOf({ surface: messagesSurface, settings });
    const written = translate(languages, { ...target, dialect, reasoning }, contextOf(turn));
    if (!written.ok) throw new Error(written.error.message);
    const body: unknown = JSON.parse(Buffer.concat(written.value.request.body).toString());
    expect(body).toMatchObject(members);
    if (lost.length > 0) expect(body).not.toHaveProperty('temperature');
    expect(written.value.losses.map(({ field }) => field)).toEqual(lost);
  },
);

test('a model known to take budgets gets one, whoever serves it', () => {
  const reasoning = { effort: 'high', budgetTokens: null, shown: null } as const;
  const { body } = sentToMessages(
    { reasoning },
    { reasoning: 'asked', model: modelOf({ budget: { min: 1_024, max: 63_999 } }), maxOutputTokens: 64_000 },
  );
  expect(body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 16_384 } });
  expect(body).not.toHaveProperty('output_config');
});
