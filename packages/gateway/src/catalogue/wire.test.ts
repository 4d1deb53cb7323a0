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
    expect(wire.thinks.silent).toBe(thinks);
    expect(wire.asked).toMatchObject({ reasoning, maxOutputTokens, contextWindow: 8_000 });
  },
);

test('a target has a wire for each protocol that calls can be translated to, and one where it speaks the caller’s', () => {
  const paths = { 'chat-completions': '/chat', responses: '/responses', images: '/images' };
  const target = targetOf({ id: 'a', protocols: paths });
  const { ways } = wires.of(target, 'messages');
  expect(ways.map(({ protocol, isTranslated }) => [protocol.id, isTranslated])).toEqual([
    ['responses', true],
    ['chat-completions', true],
  ]);
  const own = wires.of(target, 'chat-completions');
  expect(own.ways).toEqual([own]);
  expect(own.isTranslated).toBe(false);
});

test('state that a target seals in one protocol is never taken for that of another', () => {
  const target = targetOf({ id: 'a', protocols: { 'chat-completions': '/chat', responses: '/responses' } });
  const [responses, chat] = wires.of(target, 'messages').ways.map(({ asked }) => asked.origin);
  expect(responses).toBe(target.origin);
  expect(chat).toMatch(/^[0-9a-z]{5,13}$/);
  // The same state by whichever surface it comes back.
  expect(wires.of(target, 'chat-completions').asked.origin).toBe(chat);
  expect(wires.of(target, 'generate-content').ways.map(({ asked }) => asked.origin)).toEqual([
    responses,
    chat,
  ]);
});

test('time for thought is given where the caller asks for it, and not where it is switched off', () => {
  const known = { ...quick.reasoning, mode: 'optional' } as const;
  const told = (reasoning: ModelFacts['reasoning'], surface: 'messages' | 'chat-completions') =>
    wires.of({ ...targetOf({ id: 'a' }), facts: { ...quick, reasoning } }, surface).thinks;
  const always = { ...known, mode: 'always' } as const;
  expect(told(quick.reasoning, 'messages')).toEqual({ some: true, none: false, silent: false });
  expect(told({ ...known, efforts: ['none', 'high'] }, 'messages')).toMatchObject({ none: false });
  // It has no word for it, and a target that speaks chat-completions is told by words.
  expect(told({ ...known, efforts: ['low', 'high'] }, 'messages')).toEqual({
    some: true,
    none: true,
    silent: true,
  });
  expect(told({ ...always, efforts: ['low'] }, 'messages')).toMatchObject({ none: true });
  expect(told(unknownModel.reasoning, 'messages')).toEqual({ some: true, none: true, silent: true });
});
