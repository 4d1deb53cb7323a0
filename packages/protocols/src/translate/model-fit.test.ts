import { describe, expect, test } from 'vitest';
import type { AskedModel, Codec, TranslationTarget } from '../codec.ts';
import { protocols } from '../protocols.ts';
import { defaultDialect } from '../request.ts';
import { translate } from '../translation.ts';
import { noSettings, type Turn, type TurnSettings } from '../turn.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { traceId, turnOf } from './turn.fixture.ts';

const codecs = {
  chat: protocols['chat-completions'].codec,
  responses: protocols.responses.codec,
  messages: protocols.messages.codec,
  native: protocols['generate-content'].codec,
};
type To = keyof typeof codecs;

type Reasoning = AskedModel['reasoning'];

function modelOf(reasoning: Partial<Reasoning>, rest: Partial<AskedModel> = {}): AskedModel {
  const unsaid = { mode: 'optional', efforts: null, defaultEffort: null, budget: null } as const;
  return { reasoning: { ...unsaid, ...reasoning }, parameters: {}, inputModalities: null, ...rest };
}

function habitOf({ mode, defaultEffort }: Reasoning): TranslationTarget['reasoning'] {
  if (mode === 'always') return 'always';
  return mode === 'optional' && (defaultEffort === 'none' ? 'asked' : true);
}

function translated(to: To, turn: Turn, model: AskedModel, rest: Partial<TranslationTarget> = {}) {
  const upstream: Codec | null = codecs[to];
  const caller = to === 'messages' ? codecs.chat : codecs.messages;
  if (upstream === null || caller === null) throw new Error('there is no codec');
  const target = {
    upstreamModel: 'm',
    path: '/{model}',
    dialect: defaultDialect,
    origin: 'here',
    maxOutputTokens: null,
    reasoning: habitOf(model.reasoning),
    model,
    ...rest,
  };
  const context = { turn, traceId, createdS: 0, wantsUsageFrame: false, framing: 'sse' } as const;
  return translate({ caller, upstream }, target, { ...context, inputTokensEstimate: 1 });
}

/** What is sent beside the conversation, and what is told to the caller of it. */
function sent(
  to: To,
  settings: Partial<TurnSettings>,
  model: AskedModel,
  rest: Partial<TranslationTarget> = {},
) {
  const written = translated(to, turnOf({ settings: { ...noSettings, ...settings } }), model, rest);
  if (!written.ok) throw new Error(written.error.message);
  const body = recordOf(JSON.parse(Buffer.concat(written.value.request.body).toString()));
  // Members that every request of a protocol has.
  const usual = ['messages', 'input', 'contents', 'model', 'include', 'store', 'stream', 'max_tokens'];
  const { max_tokens: limit } = body;
  const members = Object.fromEntries(Object.entries(body).filter(([name]) => !usual.includes(name)));
  const losses = written.value.losses.map(({ field, action, note }) => `${action} ${field}: ${note}`);
  const config = recordOf(members['generationConfig']);
  return { members: to === 'native' ? config : members, limit, losses };
}

function thinking(
  effort: NonNullable<TurnSettings['reasoning']>['effort'],
  budgetTokens: number | null = null,
) {
  return { effort, budgetTokens, shown: null };
}

test.each<[To, Partial<Reasoning>, ReturnType<typeof thinking>, WireRecord, readonly string[]]>([
  // The nearest word; of two as near, the one that thinks more.
  ['chat', { efforts: ['low', 'high'] }, thinking('low'), { reasoning_effort: 'low' }, []],
  [
    'chat',
    { efforts: ['low', 'high'] },
    thinking('medium'),
    { reasoning_effort: 'high' },
    ['changed reasoning: high effort'],
  ],
  [
    'responses',
    { efforts: ['none', 'high'] },
    thinking('minimal'),
    { reasoning: { effort: 'high' } },
    ['changed reasoning: high effort'],
  ],
  [
    'responses',
    { efforts: ['low', 'medium'] },
    thinking('max'),
    { reasoning: { effort: 'medium' } },
    ['changed reasoning: medium effort'],
  ],
  // Words that are not known are those that servers share.
  ['chat', {}, thinking('max'), { reasoning_effort: 'high' }, ['changed reasoning: high effort']],
  // A budget in words, and words in a budget.
  [
    'chat',
    { efforts: ['low', 'high'] },
    thinking(null, 9_000),
    { reasoning_effort: 'high' },
    ['changed reasoning: high effort'],
  ],
  [
    'native',
    { efforts: ['low', 'high'] },
    thinking(null, 2_000),
    { thinkingConfig: { thinkingLevel: 'LOW' } },
    ['changed reasoning: low effort'],
  ],
  [
    'native',
    { budget: { min: 512, max: 20_000 } },
    thinking('max'),
    { thinkingConfig: { thinkingBudget: 20_000 } },
    [],
  ],
  [
    'native',
    { budget: { min: 512, max: 20_000 } },
    thinking(null, 100),
    { thinkingConfig: { thinkingBudget: 512 } },
    ['changed reasoning: a budget of 512 tokens'],
  ],
  [
    'messages',
    { efforts: ['low', 'max'] },
    thinking('xhigh'),
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    ['changed reasoning: max effort'],
  ],
  // A model that takes no word for it.
  [
    'chat',
    { efforts: [], mode: 'always' },
    thinking('high'),
    {},
    ['changed reasoning: as much as the model likes'],
  ],
  // No thought at all.
  ['chat', { efforts: ['none', 'high'] }, thinking('none'), { reasoning_effort: 'none' }, []],
  [
    'chat',
    { efforts: ['low', 'high'] },
    thinking('none'),
    { reasoning_effort: 'low' },
    ['changed reasoning: the model cannot be told not to think; low effort'],
  ],
  // It does not think unless it is asked to, and least of all for who wants none.
  ['chat', { efforts: ['low', 'high'], defaultEffort: 'none' }, thinking('none'), {}, []],
  [
    'responses',
    { efforts: ['medium', 'high'], mode: 'always' },
    thinking('none'),
    { reasoning: { effort: 'medium' } },
    ['changed reasoning: the model always thinks; medium effort'],
  ],
  ['messages', { efforts: ['low', 'high'] }, thinking('none'), { thinking: { type: 'disabled' } }, []],
  [
    'native',
    { budget: { min: 512, max: 20_000 } },
    thinking('none'),
    { thinkingConfig: { thinkingBudget: 0 } },
    [],
  ],
  [
    'native',
    { budget: { min: 128, max: 20_000 }, mode: 'always' },
    thinking('none'),
    { thinkingConfig: { thinkingBudget: 128 } },
    ['changed reasoning: the model always thinks; a budget of 128 tokens'],
  ],
])('%s of a model with %j: %j is told as %j', (to, reasoning, asked, members, losses) => {
  const { limit: _, ...told } = sent(to, { reasoning: asked }, modelOf(reasoning));
  expect(told).toEqual({ members, losses });
});

test.each(['chat', 'responses'] as const)(
  '%s: a server may switch off by a word what records do not tell',
  (to) => {
    const dialect = { ...defaultDialect, thoughtSwitch: 'none' } as const;
    const model = modelOf({ efforts: ['low', 'high'] });
    const { members, losses } = sent(to, { reasoning: thinking('none') }, model, { dialect });
    const told = to === 'chat' ? { reasoning_effort: 'none' } : { reasoning: { effort: 'none' } };
    expect({ members, losses }).toEqual({ members: told, losses: [] });
    const on = sent(to, { reasoning: { ...thinking(null), isOn: true } }, model, { dialect });
    const some = to === 'chat' ? { reasoning_effort: 'high' } : { reasoning: { effort: 'high' } };
    expect(on).toMatchObject({ members: some, losses: ['changed reasoning: high effort'] });
    const always = sent(
      to,
      { reasoning: thinking('none') },
      modelOf({ ...model.reasoning, mode: 'always' }),
      { dialect },
    );
    expect(always.losses).toEqual(['changed reasoning: the model always thinks; low effort']);
  },
);

test('all of the nucleus beside a temperature asks for nothing that could be lost', () => {
  const { members, losses } = sent('messages', { temperature: 0.7, topP: 1 }, modelOf({ mode: 'none' }));
  expect({ members, losses }).toEqual({ members: { temperature: 0.7 }, losses: [] });
});

test('thought without an amount is asked for in a word where the model would not think else', () => {
  const reasoning = { ...thinking(null), isOn: true } as const;
  const words = { efforts: ['low', 'medium'] } as const;
  const asked = sent('chat', { reasoning }, modelOf({ ...words, defaultEffort: 'none' }));
  expect(asked).toEqual({
    members: { reasoning_effort: 'medium' },
    losses: ['changed reasoning: medium effort'],
  });
  expect(sent('chat', { reasoning }, modelOf(words))).toEqual({ members: {}, losses: [] });
  const shown = { ...thinking(null), shown: true };
  expect(sent('chat', { reasoning: shown }, modelOf({ ...words, defaultEffort: 'none' }))).toMatchObject({
    members: {},
  });
});

describe('a budget', () => {
  const model = modelOf({ budget: { min: 1_024, max: 31_999 } });
  const budget = (
    settings: Partial<TurnSettings>,
    maxOutputTokens: number | null = 32_000,
    asked: AskedModel = model,
  ) => {
    const { members, limit, losses } = sent('messages', settings, asked, { maxOutputTokens });
    return { limit, budget: recordOf(members['thinking'])['budget_tokens'] ?? null, losses };
  };

  test.each([
    // The limit a caller gives with an effort is the answer's.
    [500, thinking('low'), 2_548, 2_048, ['changed maxOutputTokens: 2548, 2048 of them for thought']],
    // One that is larger than the caller's own budget has it within.
    [9_000, thinking(null, 4_000), 9_000, 4_000, []],
    [4_000, thinking(null, 4_000), 8_000, 4_000, ['changed maxOutputTokens: 8000, 4000 of them for thought']],
    // The model can write no more: the answer keeps its tokens.
    [
      30_000,
      thinking('high'),
      32_000,
      2_000,
      [
        'changed reasoning: a budget of 2000 tokens, beside the answer',
        'changed maxOutputTokens: 32000, 2000 of them for thought',
      ],
    ],
    [
      40_000,
      thinking('high'),
      32_000,
      1_024,
      [
        'changed reasoning: a budget of 1024 tokens, beside the answer',
        'changed maxOutputTokens: limited to 32000',
      ],
    ],
    // Nobody has said how long the answer may be.
    [null, thinking('medium'), 32_000, 8_192, []],
    [
      null,
      thinking('max'),
      32_000,
      30_976,
      ['changed reasoning: a budget of 30976 tokens, beside the answer'],
    ],
  ] as const)(
    'beside a limit of %j for %j: %d, %d of it for thought',
    (limit, reasoning, total, tokens, losses) => {
      expect(budget({ maxOutputTokens: limit, reasoning })).toEqual({ limit: total, budget: tokens, losses });
    },
  );

  test('that is larger than the model takes leaves the rest of the limit to the answer', () => {
    const asked = modelOf({ budget: { min: 1_024, max: 20_000 } });
    expect(budget({ maxOutputTokens: 31_999, reasoning: thinking(null, 31_998) }, 64_000, asked)).toEqual({
      limit: 31_999,
      budget: 20_000,
      losses: ['changed reasoning: a budget of 20000 tokens'],
    });
  });

  test('of a model whose limit is not known comes on top of the usual one', () => {
    expect(budget({ reasoning: thinking('high') }, null)).toMatchObject({ limit: 24_576, budget: 16_384 });
  });

  test('is none where the model has no room for it', () => {
    const losses = ['changed reasoning: off, since the model has no room for it'];
    expect(budget({ reasoning: thinking('high') }, 900)).toEqual({ limit: 900, budget: null, losses });
  });

  test('of a native model leaves its tokens to the answer as well', () => {
    const { members } = sent('native', { reasoning: thinking('low'), maxOutputTokens: 100 }, model);
    expect(members).toMatchObject({ maxOutputTokens: 2_148, thinkingConfig: { thinkingBudget: 2_048 } });
  });
});

const everything = { temperature: 0.2, topP: 0.5, presencePenalty: 1, seed: 4, stop: ['x'] };
const names = { temperature: 0.2, top_p: 0.5, presence_penalty: 1, seed: 4, stop: ['x'] };

test('parameters that the model refuses are dropped, and told', () => {
  const parameters = { temperature: false, presence_penalty: false, stop: false, seed: true } as const;
  const { members, losses } = sent('chat', everything, modelOf({ mode: 'none' }, { parameters }));
  expect(members).toEqual({ top_p: 0.5, seed: 4 });
  expect(losses).toEqual([
    'dropped temperature: the model takes none',
    'dropped presencePenalty: the model takes none',
    'dropped stop: the model takes none',
  ]);
  expect(sent('chat', { temperature: 1 }, modelOf({}, { parameters })).losses).toEqual([]);
});

test('a parameter that thought shuts out is taken without it', () => {
  const model = modelOf({ efforts: ['none', 'high'] }, { parameters: { temperature: 'without-thought' } });
  const asked = (effort: 'none' | 'high') =>
    sent('chat', { ...everything, reasoning: thinking(effort) }, model);
  expect(asked('none').members).toMatchObject(names);
  expect(asked('high').members).not.toHaveProperty('temperature');
  expect(asked('high').losses).toEqual(['dropped temperature: not taken beside reasoning']);
});

test('what is known of a model stands before the rule of thumb for those that think', () => {
  const own = { dialect: { ...defaultDialect, chatVocabulary: 'own' } } as const;
  const taken = modelOf({}, { parameters: { temperature: true, stop: true } });
  for (const to of ['chat', 'responses'] as const)
    expect(sent(to, { temperature: 0.2 }, taken, own).members).toMatchObject({ temperature: 0.2 });
  expect(sent('chat', { stop: ['x'] }, taken, own).members).toMatchObject({ stop: ['x'] });
  const unsaid = modelOf({});
  expect(sent('chat', { temperature: 0.2 }, unsaid, own).losses).toEqual(['dropped temperature: null']);
});

test('nothing is dropped for a model that nobody knows', () => {
  const { members, losses } = sent('chat', everything, modelOf({ mode: 'unknown' }));
  expect(members).toEqual(names);
  expect(losses).toEqual([]);
});

test.each(['chat', 'responses', 'messages', 'native'] as const)(
  'a limit beyond what the model can write is lowered, and told: %s',
  (to) => {
    const { limit, members, losses } = sent(to, { maxOutputTokens: 900 }, modelOf({ mode: 'none' }), {
      maxOutputTokens: 800,
    });
    expect([limit, ...Object.values(members)]).toContain(800);
    expect(losses).toEqual(['changed maxOutputTokens: limited to 800']);
  },
);

test('a model that refuses the older name of the limit gets the newer one', () => {
  const { members } = sent(
    'chat',
    { maxOutputTokens: 900 },
    modelOf({}, { parameters: { max_tokens: false } }),
  );
  expect(members).toEqual({ max_completion_tokens: 900 });
});

describe('a picture', () => {
  const picture = {
    kind: 'media',
    media: 'image',
    mediaType: 'image/png',
    source: { kind: 'base64', data: 'iVBORw0KGgo=' },
    filename: null,
    detail: null,
    cacheTtl: null,
  } as const;
  const fault = (inputModalities: readonly string[] | null, media: 'image' | 'file' = 'image') => {
    const content = [{ ...picture, media }];
    const written = translated(
      'chat',
      turnOf({ messages: [{ role: 'user', content, name: null }] }),
      modelOf({}, { inputModalities }),
    );
    return written.ok ? null : written.error;
  };

  test('is refused by its name for a model that is known to read none', () => {
    expect(fault(['text', 'audio'])).toMatchObject({ status: 400, param: 'messages[].content[].image' });
  });

  test('goes to models that read it, and to those of which nothing is known', () => {
    expect([fault(['text', 'image']), fault(null), fault([]), fault(['text'], 'file')]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('a server with a switch of its own', () => {
  const told = (
    thoughtSwitch: 'thinking' | 'enable_thinking',
    asked: ReturnType<typeof thinking>,
    known: Partial<Reasoning>,
  ) => sent('chat', { reasoning: asked }, modelOf(known), { dialect: { ...defaultDialect, thoughtSwitch } });

  test.each([
    ['thinking', thinking('none'), { efforts: ['low', 'high'] }, { thinking: { type: 'disabled' } }, []],
    [
      'thinking',
      thinking('high'),
      { efforts: ['low', 'high'] },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
      [],
    ],
    [
      'thinking',
      thinking('high'),
      { efforts: ['low', 'high'], mode: 'always' },
      { reasoning_effort: 'high' },
      [],
    ],
    [
      'thinking',
      thinking('high'),
      { efforts: [] },
      { thinking: { type: 'enabled' } },
      ['changed reasoning: as much as the model likes'],
    ],
    ['enable_thinking', thinking('none'), {}, { enable_thinking: false }, []],
    [
      'enable_thinking',
      thinking('none'),
      { efforts: [], mode: 'always' },
      {},
      ['changed reasoning: the model always thinks'],
    ],
    ['enable_thinking', thinking('low'), {}, { enable_thinking: true, thinking_budget: 2_048 }, []],
    [
      'enable_thinking',
      thinking(null, 5_000),
      { budget: { min: 0, max: 4_000 } },
      { enable_thinking: true, thinking_budget: 4_000 },
      ['changed reasoning: a budget of 4000 tokens'],
    ],
  ] as const)('%s: %j of a model with %j is %j', (thoughtSwitch, asked, known, members, losses) => {
    expect(told(thoughtSwitch, asked, known)).toEqual({ members, losses });
  });
});

test('where thought is off after all, the limit is the answer’s alone', () => {
  const model = modelOf({ budget: { min: 1_024, max: 31_999 } });
  const settings = { ...noSettings, maxOutputTokens: 500, reasoning: thinking('high') };
  const tool = {
    kind: 'function',
    name: 'look',
    namespace: null,
    description: '',
    parameters: null,
  } as const;
  const tools = [{ ...tool, strict: null, cacheTtl: null }];
  const turn = turnOf({ settings, tools, toolChoice: { kind: 'required' } });
  const written = translated('messages', turn, model, { maxOutputTokens: 32_000 });
  if (!written.ok) throw new Error(written.error.message);
  const body: unknown = JSON.parse(Buffer.concat(written.value.request.body).toString());
  expect(body).toMatchObject({ max_tokens: 500, thinking: { type: 'disabled' } });
  expect(written.value.losses.map(({ field }) => field)).toEqual(['reasoning']);
});
