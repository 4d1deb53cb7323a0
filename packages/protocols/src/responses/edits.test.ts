import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import type { Block, Sealed } from '../turn.ts';
import { listOf, recordOf } from '../wire-values.ts';
import {
  framesOf,
  readBody,
  readFrames,
  targetOf,
  turnOf,
  writeEvents,
  writerContext,
  written,
} from './codec.fixture.ts';
import { carry, unpack } from './edits.ts';
import { responsesCodec } from './index.ts';

const finish = { reason: 'tool-calls', rawReason: null, stopSequence: null, usage: null } as const;

function sealedAs(form: Sealed['form']): Sealed {
  return { origin: 'abc', data: 'EqQB+/=', form };
}

const call = {
  kind: 'tool-call',
  name: 'f',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed: null,
} as const;

/** Blocks that other protocols seal: thoughts that are shown, hidden or left out, and calls. */
const sealed: readonly Block[] = [
  { kind: 'reasoning', text: 'hm', sealed: sealedAs('signature') },
  { kind: 'reasoning', text: '', sealed: sealedAs('redacted') },
  { kind: 'reasoning', text: '', sealed: sealedAs('signature') },
  { ...call, id: 'c1', sealed: sealedAs('signature') },
  { ...call, id: 'c2' },
];

test('what another protocol sealed comes back from the caller as it was, whole and streamed', () => {
  const answer = { answerId: null, model: null, content: sealed, finish };
  const whole = recordOf(
    JSON.parse(new TextDecoder().decode(responsesCodec.writeAnswer(answer, writerContext()))),
  );
  const streamed = framesOf(writeEvents(answerEvents(answer))).flatMap((frame) => {
    const event = recordOf(JSON.parse(new TextDecoder().decode(frame).split('data: ')[1] ?? ''));
    return event['type'] === 'response.output_item.done' ? [recordOf(event['item'])] : [];
  });
  expect(streamed).toEqual(whole['output']);
  // Clients keep neither the ids nor empty texts.
  const input = listOf(whole['output']).map((item) => ({ ...recordOf(item), id: undefined }));
  expect(readBody({ model: 'm', input }).messages).toEqual([
    { role: 'assistant', content: sealed, name: null },
  ]);
});

test('what this protocol sealed comes back to it through a caller of another', () => {
  const item = { type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
  const frames = [item, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }].map(
    (done, index) =>
      new TextEncoder().encode(
        `data: ${JSON.stringify({ type: 'response.output_item.done', output_index: index, item: done })}\n\n`,
      ),
  );
  const { content } = collectAnswer(readFrames(frames));
  const turn = turnOf({ messages: [{ role: 'assistant', content, name: null }] });
  expect(listOf(written(turn, targetOf({ origin: 'here' })).body['input'])[0]).toEqual(item);
  expect(written(turn, targetOf({ origin: 'elsewhere' })).body['input']).toHaveLength(2);
});

test('a carried state is unpacked as it was packed', () => {
  const as = fc.constantFrom('signature' as const, 'redacted' as const, 'call' as const);
  fc.assert(
    fc.property(fc.string(), as, (data, kind) => {
      const form = kind === 'redacted' ? 'redacted' : 'signature';
      const state = { origin: 'abc', data, form } as const;
      expect(unpack(carry(state, kind))).toEqual({ sealed: state, as: kind });
    }),
  );
});

test('a mark without any kind that we know is nothing', () => {
  expect(unpack('gw1.abc.')).toBeNull();
  expect(unpack('gw1.abc.xyz')).toBeNull();
  expect(
    readBody({ model: 'm', input: [{ type: 'reasoning', summary: [], encrypted_content: 'gw1.abc.xyz' }] })
      .messages,
  ).toEqual([]);
});

test('state of a call that is not there is left out', () => {
  const carrier = { type: 'reasoning', summary: [], encrypted_content: carry(sealedAs('signature'), 'call') };
  expect(
    readBody({ model: 'm', input: [carrier, { role: 'user', content: 'hi' }, carrier] }).messages,
  ).toHaveLength(1);
});
