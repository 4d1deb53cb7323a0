import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chatCompletionsCodec } from '../chat-completions/index.ts';
import type { Codec } from '../codec.ts';
import { writer } from '../messages/codec.fixture.ts';
import { messagesCodec } from '../messages/index.ts';
import { responsesCodec } from '../responses/index.ts';
import type { Block } from '../turn.ts';
import type { OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { answerEvents, BlockSequencer, collectAnswer } from './answer.ts';

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

const call = (id: string): OpenBlock => ({
  kind: 'tool-call',
  id,
  name: 'look',
  namespace: null,
  form: 'function',
});
const text = (text: string) => ({ kind: 'text', text }) as const;

test('the first open block is let through as it comes, the others wait for their turn', () => {
  const sequencer = new BlockSequencer<number>();
  sequencer.open(0, call('a'));
  sequencer.add(0, text('{'));
  sequencer.open(1, call('b'));
  sequencer.add(1, text('['));
  sequencer.add(0, text('}'));
  sequencer.add(1, text(']'));
  expect(sequencer.take()).toEqual([
    { kind: 'block-start', block: call('a') },
    { kind: 'delta', delta: text('{') },
    { kind: 'delta', delta: text('}') },
  ]);
  sequencer.close(0);
  sequencer.add(1, text('!'));
  expect(sequencer.take()).toEqual([
    { kind: 'block-stop' },
    { kind: 'block-start', block: call('b') },
    { kind: 'delta', delta: text('[]') },
    { kind: 'delta', delta: text('!') },
  ]);
  sequencer.closeAll();
  expect(sequencer.take()).toEqual([{ kind: 'block-stop' }]);
});

type Step = readonly ['open' | 'add' | 'close', number, string];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom('open' as const, 'add' as const, 'close' as const),
    fc.nat({ max: 3 }),
    fc.string({ maxLength: 3 }),
  ),
);

test('however blocks are mixed, each comes whole, one behind the other, in the order of their opening', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const { events, expected } = run(steps);
      expectSequential(events);
      const { content } = collectAnswer(events);
      expect(content.map((block) => (block.kind === 'tool-call' ? [block.id, block.input] : null))).toEqual(
        expected,
      );
    }),
  );
});

/** The events, and the id and text of each block as it was opened. */
function run(steps: readonly Step[]) {
  const sequencer = new BlockSequencer<number>();
  const events: TurnEvent[] = [];
  const expected: [string, string][] = [];
  const open = new Map<number, [string, string]>();
  for (const [act, key, piece] of steps) {
    if (act === 'open') {
      const block: [string, string] = [`${expected.length}`, ''];
      expected.push(block);
      open.set(key, block);
      sequencer.open(key, call(block[0]));
    } else if (act === 'add') {
      const block = open.get(key);
      if (block !== undefined) block[1] += piece;
      sequencer.add(key, text(piece));
    } else {
      open.delete(key);
      sequencer.close(key);
    }
    expect(sequencer.has(key)).toBe(open.has(key));
    events.push(...sequencer.take());
  }
  sequencer.closeAll();
  return { events: [...events, ...sequencer.take()], expected };
}

function expectSequential(events: readonly TurnEvent[]): void {
  let isOpen = false;
  for (const { kind } of events) {
    expect(isOpen).toBe(kind !== 'block-start');
    isOpen = kind !== 'block-stop';
  }
  expect(isOpen).toBe(false);
}

const wholeCall = (id: string): Block => ({
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
    content: ['functions.clock:0', 'ü'.repeat(200), 'ü'.repeat(201), 'toolu_1'].map(wholeCall),
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
