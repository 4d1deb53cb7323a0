import { expect, test } from 'vitest';
import { modelOf, targetOf } from '../../core/catalogue.fixture.ts';
import type { Caller, Catalogue, Model } from '../../core/catalogue.ts';
import { findModel, listModels } from './models-endpoint.ts';

const chat = { 'chat-completions': '/chat/completions' };
const models: readonly Model[] = [
  modelOf([targetOf({ id: 'a', protocols: chat })], 'chat-only'),
  modelOf([targetOf({ id: 'b', protocols: { messages: '/messages' } })], 'messages-only'),
  modelOf([targetOf({ id: 'c', enabled: false }), targetOf({ id: 'd' })], 'half-enabled'),
  modelOf([targetOf({ id: 'c', enabled: false })], 'disabled'),
  modelOf([], 'nowhere'),
];
const catalogue: Catalogue = {
  revision: 1,
  keys: new Map(),
  groups: new Map(),
  models: new Map(models.map((model) => [model.id, model])),
  channels: new Map(),
};

function callerOn(platform: 'completions' | 'messages'): Caller {
  const group = { id: 'g', name: 'Group', platform, multiplierPpm: 1_000_000n, models: null };
  return {
    keyId: 'k',
    keyName: 'Key',
    accountId: 'a',
    group,
    models: null,
    createdAtMs: 0,
    strict: false,
    expiresAtMs: null,
  };
}

test.each([
  ['completions', { 'chat-completions': true, messages: true }, ['chat-only', 'half-enabled']],
  ['messages', { 'chat-completions': true, messages: true }, ['messages-only']],
  ['messages', { 'chat-completions': true }, []],
] as const)('a %s key is told of what it can call, served %j', (platform, served, ids) => {
  const caller = callerOn(platform);
  expect(listModels(caller, catalogue, served)).toMatchObject({ data: ids.map((id) => ({ id })) });
  for (const { id } of models) {
    expect(findModel(id, caller, catalogue, served).ok).toBe(ids.some((listed) => listed === id));
  }
});
