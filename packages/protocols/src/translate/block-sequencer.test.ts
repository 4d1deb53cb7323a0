import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OpenBlock, TurnEvent } from '../turn-event.ts';
import { BlockSequencer } from './block-sequencer.ts';
import { collectAnswer } from './collect-answer.ts';

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
