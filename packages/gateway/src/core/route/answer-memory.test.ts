import { expect, test } from 'vitest';
import { AnswerMemory } from './answer-memory.ts';

test('a known answer binds to its channel, an unknown one to none', () => {
  const memory = new AnswerMemory();
  memory.note('resp_1', 'a');
  const allowed = (id: string | undefined) => ['a', 'b'].filter((channel) => memory.allows(id, channel));
  expect([allowed('resp_1'), allowed('resp_2'), allowed(undefined)]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
});

test('the oldest are forgotten first, and the number stays bounded', () => {
  const memory = new AnswerMemory();
  for (let n = 0; n <= 50_000; n++) memory.note(`resp_${n}`, 'a');
  expect(memory.allows('resp_0', 'b')).toBe(true);
  expect(memory.allows('resp_1', 'b')).toBe(false);
});
