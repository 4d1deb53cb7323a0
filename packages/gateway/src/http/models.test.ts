import { expect, test } from 'vitest';
import { modelOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import { type Caller, type Catalogue, type Model, plainRouting } from '../catalogue/catalogue.ts';
import { noLimits } from '../catalogue/limits.ts';
import { type ModelFacts, unknownModel } from '../catalogue/model-facts.ts';
import { Rights } from '../catalogue/rights.ts';
import { findModel, ModelLists, modelView, nativeModelView } from './models.ts';

const chat = { 'chat-completions': '/chat/completions' };
const models: readonly Model[] = [
  modelOf([targetOf({ id: 'a', protocols: chat })], 'chat-only'),
  modelOf([targetOf({ id: 'b', protocols: { messages: '/messages' } })], 'messages-only'),
  modelOf([targetOf({ id: 'c', enabled: false }), targetOf({ id: 'd' })], 'half-enabled'),
  modelOf([targetOf({ id: 'e', protocols: { images: '/images/{operation}' } })], 'images-only'),
  modelOf([targetOf({ id: 'c', enabled: false })], 'disabled'),
  modelOf([], 'nowhere'),
  { ...modelOf([targetOf({ id: 'a', protocols: chat })], 'unpriced'), isOffered: false },
];
const catalogue: Catalogue = {
  revision: 1,
  keys: new Map(),
  groups: new Map(),
  models: new Map(models.map((model) => [model.id, model])),
  channels: new Map(),
  served: new Map(),
  rights: new Rights([]),
};

function callerOn(platform: 'completions' | 'messages'): Caller {
  const group = {
    id: 'g',
    name: 'Group',
    platform,
    multiplierPpm: 1_000_000n,
    models: null,
    routing: plainRouting,
  };
  return {
    keyId: 'k',
    keyName: 'Key',
    accountId: 'a',
    group,
    models: null,
    createdAtMs: 0,
    strict: false,
    addressRanges: null,
    expiresAtMs: null,
    limits: noLimits,
    multipliers: null,
  };
}

function listedBy(lists: ModelLists, caller: Caller): readonly string[] {
  const text = Buffer.from(lists.answerTo(caller)).toString();
  const { data } = JSON.parse(text) as { readonly data: readonly { readonly id: string }[] }; // As it is documented.
  return data.map(({ id }) => id);
}

const served = { 'chat-completions': true, messages: true, images: true };

test.each([
  ['completions', served, ['chat-only', 'half-enabled', 'images-only', 'messages-only']],
  ['messages', served, ['chat-only', 'half-enabled', 'messages-only']],
  ['messages', { 'chat-completions': true }, []],
] as const)('a %s key is told of what it can call, served %j', (platform, protocols, ids) => {
  const caller = callerOn(platform);
  const lists = new ModelLists({ current: catalogue }, protocols);
  expect(listedBy(lists, caller)).toEqual(ids);
  expect(lists.modelsOf(caller).map(({ id }) => id)).toEqual(ids);
  for (const { id } of models) {
    expect(findModel(id, caller, catalogue, protocols).ok).toBe(ids.some((listed) => listed === id));
  }
});

test('a list is made once for a group, and for each key with one of its own, until the catalogue is another', () => {
  const holder = { current: catalogue };
  const lists = new ModelLists(holder, served);
  const caller = callerOn('completions');
  const first = lists.answerTo(caller);
  expect(lists.answerTo({ ...caller, keyId: 'other' })).toBe(first);
  expect(lists.modelsOf({ ...caller, keyId: 'other' })).toBe(lists.modelsOf(caller));
  const own = { ...caller, keyId: 'narrow', models: new Set(['chat-only']) };
  expect(listedBy(lists, own)).toEqual(['chat-only']);
  expect(lists.answerTo(own)).toBe(lists.answerTo(own));
  expect(listedBy(lists, { ...own, keyId: 'narrower', models: new Set() })).toEqual([]);
  expect(
    listedBy(lists, { ...caller, group: { ...caller.group, id: 'h', platform: 'messages' } }),
  ).not.toContain('images-only');
  holder.current = { ...catalogue, models: new Map(models.slice(0, 1).map((model) => [model.id, model])) };
  expect(listedBy(lists, caller)).toEqual(['chat-only']);
});

test('lists that are kept have a bound', () => {
  const lists = new ModelLists({ current: catalogue }, served);
  const keyOf = (n: number) => ({
    ...callerOn('completions'),
    keyId: `k${n}`,
    models: new Set(['chat-only']),
  });
  const first = lists.modelsOf(keyOf(0));
  for (let n = 1; n <= 1000; n++) lists.modelsOf(keyOf(n));
  expect(lists.modelsOf(keyOf(0))).not.toBe(first);
});

const facts: ModelFacts = {
  ...unknownModel,
  reasoning: { mode: 'optional', efforts: ['low', 'high'], defaultEffort: 'low', budget: null },
  parameters: { temperature: 'without-thought', top_p: true, top_k: false, n: false },
  maxInputTokens: 800,
  tools: true,
  structuredOutput: true,
};

test('a model is listed with what is known of it', () => {
  const model: Model = {
    ...modelOf([targetOf({ id: 'a' })]),
    created: 86_400,
    contextWindow: 1000,
    maxOutputTokens: 200,
    inputModalities: ['text', 'image'],
    facts,
  };
  expect(modelView(model, callerOn('messages'))).toMatchObject({
    created: 86_400,
    created_at: '1970-01-02T00:00:00.000Z',
    context_window: 1000,
    max_input_tokens: 800,
    max_output_tokens: 200,
    input_modalities: ['text', 'image'],
    supported_parameters: ['temperature', 'top_p', 'tools', 'response_format', 'reasoning_effort'],
  });
  expect(nativeModelView(model)).toMatchObject({
    inputTokenLimit: 1000,
    outputTokenLimit: 200,
    thinking: true,
  });
});

test('nothing is said of the parameters of a model that nobody knows', () => {
  const model = { ...modelOf([]), facts: unknownModel };
  expect(modelView(model, callerOn('completions'))).toMatchObject({ supported_parameters: null });
  expect(nativeModelView(model).thinking).toBe(false);
});
