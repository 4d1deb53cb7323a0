import { expect, test } from 'vitest';
import { answerEvents } from '../../translate/answer-events.ts';
import { collectAnswer } from '../../translate/collect-answer.ts';
import type { Block } from '../../turn.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { framesOf, readEvents, reader, writer } from './codec.fixture.ts';
import { messagesCodec } from './index.ts';

const said: Block = { kind: 'text', text: 'a', citations: [], cacheTtl: null };
const sealed = { origin: 'there', data: 'c2ln', form: 'signature' as const };
const state: Block = { kind: 'reasoning', text: '', sealed };
const tool = { id: 'c', name: 'clock', namespace: null, form: 'function' as const };
const called: Block = { kind: 'tool-call', ...tool, input: '{}', sealed: null };

test.each<[string, readonly Block[], readonly Block['kind'][]]>([
  ['state behind the last text is left out', [state, said, state, state], ['reasoning', 'text']],
  [
    'between text and a call it stays',
    [said, state, state, called],
    ['text', 'reasoning', 'reasoning', 'tool-call'],
  ],
  ['without a text it stays', [state], ['reasoning']],
  ['with words it stays', [said, { ...state, text: 'hm' }], ['text', 'reasoning']],
])('%s', (_, content, kinds) => {
  const finish = { reason: 'stop', rawReason: null, stopSequence: null, usage: null } as const;
  const answer: TurnAnswer = { answerId: null, model: 'served', content, finish };
  const whole = messagesCodec.readAnswer(messagesCodec.writeAnswer(answer, writer), reader);
  const frames = messagesCodec.openWriter(writer);
  const text = [...answerEvents(answer)].map((event) => frames.write(event)).join('') + frames.end();
  expect(whole.content.map(({ kind }) => kind)).toEqual(kinds);
  expect(collectAnswer(readEvents(framesOf(text))).content).toEqual(whole.content);
});
