import { expect, test } from 'vitest';
import { modelOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import { type Caller, type Catalogue, type Model, plainRouting } from '../catalogue/catalogue.ts';
import { findModel, listModels } from './models.ts';

const chat = { 'chat-completions': '/chat/completions' };
const models: readonly Model[] = [
  modelOf([targetOf({ id: 'a', protocols: chat })], 'chat-only'),
  modelOf([targetOf({ id: 'b', protocols: { messages: '/messages' } })], 'messages-only'),
  modelOf([targetOf({ id: 'c', enabled: false }), targetOf({ id: 'd' })], 'half-enabled'),
  modelOf([targetOf({ id: 'e', protocols: { images: '/images/{operation}' } })], 'images-only'),
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
    expiresAtMs: null,
  };
}

const served = { 'chat-completions': true, messages: true, images: true };

test.each([
  ['completions', served, ['chat-only', 'half-enabled', 'images-only', 'messages-only']],
  ['messages', served, ['chat-only', 'half-enabled', 'messages-only']],
  ['messages', { 'chat-completions': true }, []],
] as const)('a %s key is told of what it can call, served %j', (platform, protocols, ids) => {
  const caller = callerOn(platform);
  expect(listModels(caller, catalogue, protocols)).toMatchObject({ data: ids.map((id) => ({ id })) });
  for (const { id } of models) {
    expect(findModel(id, caller, catalogue, protocols).ok).toBe(ids.some((listed) => listed === id));
  }
});
