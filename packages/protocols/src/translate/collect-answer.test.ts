import { expect, test } from 'vitest';
import type { TurnAnswer } from '../turn-event.ts';
import { answerEvents } from './answer-events.ts';
import { collectAnswer } from './collect-answer.ts';

const answer: TurnAnswer = {
  answerId: 'a1',
  model: 'm',
  content: [
    { kind: 'reasoning', text: 'hm', sealed: { origin: 'x', data: 's', form: 'signature' } },
    {
      kind: 'text',
      text: 'See here',
      citations: [{ url: 'https://example.org', title: null, quote: null, start: 0, end: 3 }],
      cacheTtl: null,
    },
    { kind: 'tool-call', id: 'c', name: 'n', namespace: null, form: 'function', input: '{}', sealed: null },
    {
      kind: 'media',
      media: 'image',
      mediaType: 'image/png',
      source: { kind: 'base64', data: 'AA==' },
      filename: null,
      detail: null,
      cacheTtl: null,
    },
    { kind: 'refusal', text: 'No.' },
  ],
  finish: { reason: 'stop', rawReason: 'end_turn', stopSequence: null, usage: null },
};

test('an answer is the sum of its events', () => {
  expect(collectAnswer(answerEvents(answer))).toEqual(answer);
});

test('a block that was never closed counts as it stands', () => {
  const events = [...answerEvents(answer)].slice(0, 3);
  expect(collectAnswer(events).content).toEqual(
    [{ kind: 'reasoning', text: 'hm', sealed: null }].slice(0, 1),
  );
});
