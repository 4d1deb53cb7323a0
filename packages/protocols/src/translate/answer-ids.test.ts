import { expect, test } from 'vitest';
import { chatCompletionsCodec } from '../chat-completions/codec/index.ts';
import type { Codec } from '../codec.ts';
import { writer } from '../messages/codec/codec.fixture.ts';
import { messagesCodec } from '../messages/codec/index.ts';
import { responsesCodec } from '../responses/codec/index.ts';
import type { Block } from '../turn.ts';
import type { TurnAnswer } from '../turn-event.ts';
import { answerEvents } from './answer-events.ts';

const call = (id: string): Block => ({
  kind: 'tool-call',
  id,
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed: null,
});

/*
 * The caller hands an id back to whoever comes next, which may be an upstream of its own protocol that gets the caller's
 * bytes as they are: so it must be an id that those take.
 */
test.each<[string, Codec, RegExp, RegExp]>([
  ['chat-completions', chatCompletionsCodec, /"id":"([^"]*)","type":"function"/g, /^[!-~]{1,40}$/],
  ['responses', responsesCodec, /"call_id":"([^"]*)"/g, /^[!-~]{1,64}$/],
  ['messages', messagesCodec, /"type":"tool_use","id":"([^"]*)"/g, /^[a-zA-Z0-9_-]{1,128}$/],
])('callers of %s get ids that their protocol takes, the same in both forms', (_, codec, place, legal) => {
  const answer: TurnAnswer = {
    answerId: null,
    model: null,
    content: ['functions.clock:0', 'ü'.repeat(200), 'ü'.repeat(201), 'toolu_1'].map(call),
    finish: { reason: 'tool-calls', rawReason: null, stopSequence: null, usage: null },
  };
  const whole = new TextDecoder().decode(codec.writeAnswer(answer, writer));
  const events = codec.openWriter(writer);
  const stream = [...answerEvents(answer)].map((event) => events.write(event)).join('') + events.end();
  const idsIn = (text: string) => [...new Set(Array.from(text.matchAll(place), ([, id = '']) => id))];
  const ids = idsIn(whole);
  expect(ids).toHaveLength(4);
  expect(ids[3]).toBe('toolu_1');
  for (const id of ids) expect(id).toMatch(legal);
  expect(idsIn(stream)).toEqual(ids);
});
