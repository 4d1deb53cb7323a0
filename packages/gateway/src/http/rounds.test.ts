import { expect, test } from 'vitest';
import { everyTurn, Rounds } from './rounds.ts';

test('each goes on in the order of waiting, sixteen in a turn, and who waits again comes behind all others', async () => {
  const rounds = new Rounds(everyTurn);
  let turn = 0;
  const taken: (readonly [number, number])[] = [];
  for (let name = 0; name < 40; name++) {
    let isFirst = true;
    const taker = {
      onRound: () => {
        taken.push([turn, name]);
        if (isFirst && name === 0) rounds.wait(taker);
        isFirst = false;
      },
    };
    rounds.wait(taker);
  }
  for (; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(taken.map(([, name]) => name)).toEqual([...Array.from({ length: 40 }, (_, name) => name), 0]);
  const counts = [0, 1, 2].map((at) => taken.filter(([when]) => when === at).length);
  expect(counts).toEqual([16, 16, 9]);
});
