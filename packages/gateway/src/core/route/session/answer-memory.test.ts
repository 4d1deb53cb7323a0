import { expect, test } from 'vitest';
import { AnswerMemory } from './answer-memory.ts';

test('a known answer binds to its channel, an unknown one to none', () => {
  const memory = new AnswerMemory();
  memory.note('resp_1', { channelId: 'a', accountKey: '', ownerId: null });
  const allowed = (id: string | undefined) => ['a', 'b'].filter((channel) => memory.allows(id, channel));
  expect([allowed('resp_1'), allowed('resp_2'), allowed(undefined)]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
});

test('the first account that an answer is known of is its owner, whoever names it later', () => {
  const memory = new AnswerMemory();
  memory.note('resp_1', { channelId: 'a', accountKey: '', ownerId: 'first' });
  memory.note('resp_1', { channelId: 'b', accountKey: '', ownerId: 'second' });
  const strangers = ['first', 'second', null].filter((id) => memory.isForeign('resp_1', id));
  expect([strangers, memory.allows('resp_1', 'a')]).toEqual([['second', null], true]);
  expect([memory.isForeign('resp_2', 'second'), memory.isForeign(undefined, 'second')]).toEqual([
    false,
    false,
  ]);
});

test('the oldest are forgotten first, and the number stays bounded', () => {
  const memory = new AnswerMemory();
  for (let n = 0; n <= 50_000; n++)
    memory.note(`resp_${n}`, { channelId: 'a', accountKey: '', ownerId: null });
  expect(memory.allows('resp_0', 'b')).toBe(true);
  expect(memory.allows('resp_1', 'b')).toBe(false);
});

test('an id of any length takes no more memory than others', () => {
  const memory = new AnswerMemory();
  memory.note('a'.repeat(256), { channelId: 'c1', accountKey: '', ownerId: null });
  memory.note('a'.repeat(257), { channelId: 'c1', accountKey: '', ownerId: null });
  expect(memory.allows('a'.repeat(256), 'c2')).toBe(false);
  expect(memory.allows('a'.repeat(257), 'c2')).toBe(true);
});
