import { protocols } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { quick, targetOf } from './catalogue.fixture.ts';
import { type ModelFacts, unknownModel } from './model-facts.ts';
import { Wires } from './wire.ts';

const wires = new Wires(protocols, {
  line: () => {
    throw new Error('nothing is sent');
  },
});

const thoughtful: ModelFacts = {
  ...quick,
  reasoning: { ...quick.reasoning, mode: 'optional' },
  maxOutputTokens: 900,
};

const asked: ModelFacts = {
  ...quick,
  reasoning: { ...quick.reasoning, mode: 'optional', defaultEffort: 'none' },
};
const restless: ModelFacts = { ...quick, reasoning: { ...quick.reasoning, mode: 'always' } };

test.each([
  { what: 'known not to think', facts: quick, thinks: false, reasoning: false, maxOutputTokens: null },
  { what: 'known to think', facts: thoughtful, thinks: true, reasoning: true, maxOutputTokens: 900 },
  { what: 'that always thinks', facts: restless, thinks: true, reasoning: 'always', maxOutputTokens: null },
  {
    what: 'that thinks where it is asked to',
    facts: asked,
    thinks: true,
    reasoning: 'asked',
    maxOutputTokens: null,
  },
  { what: 'that nobody knows', facts: unknownModel, thinks: true, reasoning: false, maxOutputTokens: null },
])(
  'a model $what: time for thought $thinks, told to think $reasoning',
  ({ facts, thinks, reasoning, maxOutputTokens }) => {
    const wire = wires.of({ ...targetOf({ id: 'a' }), facts, contextWindow: 8_000 }, 'messages');
    expect(wire.thinks).toBe(thinks);
    expect(wire.asked).toMatchObject({ reasoning, maxOutputTokens, contextWindow: 8_000 });
  },
);

test('a model known to take budgets is told in tokens how much to think', () => {
  const facts = {
    ...quick,
    reasoning: { ...quick.reasoning, mode: 'optional', budget: { min: 1, max: 9 } },
  } as const;
  const budgets = [quick, facts].map(
    (known) => wires.of({ ...targetOf({ id: 'a' }), facts: known }, 'messages').asked.takesBudget,
  );
  expect(budgets).toEqual([false, true]);
});
