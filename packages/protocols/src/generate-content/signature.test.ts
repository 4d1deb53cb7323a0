import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { answerEvents } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { TurnAnswer } from '../turn-event.ts';
import { readNative, words, writerContext } from './contexts.fixture.ts';
import { readSignature, readThoughts } from './signature.ts';
import { NativeEventWriter, writeAnswer } from './write-events.ts';

type Part = Readonly<Record<string, unknown>>;
interface Chunk {
  readonly candidates: readonly [{ readonly content?: { readonly parts: readonly Part[] } }];
}

const thought = (text: string, data: string): Block => ({
  kind: 'reasoning',
  text,
  sealed: { origin: 'abc', data, form: 'signature' },
});
const redacted: Block = {
  kind: 'reasoning',
  text: '',
  sealed: { origin: 'abc', data: 'r', form: 'redacted' },
};
const call = (id: string, sealed: Extract<Block, { kind: 'tool-call' }>['sealed'] = null): Block => ({
  kind: 'tool-call',
  id,
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed,
});

function answerOf(content: readonly Block[]): TurnAnswer {
  const finish = { reason: 'stop', rawReason: null, stopSequence: null, usage: null } as const;
  return { answerId: 'a', model: 'm', content, finish };
}

function wholeParts(content: readonly Block[]): readonly Part[] {
  const text = new TextDecoder().decode(writeAnswer(answerOf(content), writerContext()));
  return parseAs<Chunk>(text).candidates[0].content?.parts ?? [];
}

function streamedParts(content: readonly Block[]): readonly Part[] {
  const writer = new NativeEventWriter(writerContext());
  const frames =
    [...answerEvents(answerOf(content))].map((event) => writer.write(event)).join('') + writer.end();
  return frames
    .split('\r\n\r\n')
    .filter((frame) => frame !== '')
    .flatMap((frame) => parseAs<Chunk>(frame.slice('data: '.length)).candidates[0].content?.parts ?? []);
}

/** All that is read of these parts when they come back. */
function replayed(parts: readonly Part[]): readonly Block[] | undefined {
  const turn = readNative({ contents: [{ role: 'model', parts }] });
  return turn.ok ? turn.value.messages[0]?.content : undefined;
}

test.each<[string, readonly Block[]]>([
  ['one thought', [thought('Hm', 's1'), call('c1')]],
  [
    'thoughts of all forms, before the first of several calls',
    [thought('Hm', 's1'), redacted, call('c1'), call('c2')],
  ],
  ['thoughts between calls', [thought('', 's1'), call('c1'), thought('So', 's2'), call('c2')]],
  [
    'a call with state of its own',
    [thought('Hm', 's1'), call('c1', { origin: 'abc', data: 'c', form: 'signature' })],
  ],
])('%s: whole again, whichever parts the client hands back', (_, content) => {
  const ownState = content.some((block) => block.kind === 'tool-call' && block.sealed !== null);
  for (const parts of [wholeParts(content), streamedParts(content)]) {
    const calls = parts.filter((part) => 'functionCall' in part);
    expect(replayed(calls)).toEqual(ownState ? content.slice(1) : content);
    expect(replayed(parts.filter(({ text }) => text !== ''))).toEqual(content);
  }
});

test('a thought that led to words is not told of a later call', () => {
  const parts = wholeParts([thought('Hm', 's1'), words('Let me see.'), call('c1')]);
  expect(readThoughts(parts.at(-1)?.['thoughtSignature'])).toEqual([]);
  expect(readSignature(parts.at(-1)?.['thoughtSignature'])).toBeNull();
});

test('any other signature brings no thoughts', () => {
  const marked = fc.string().map((text) => new TextEncoder().encode(`gw1.abc.t${text}`).toBase64());
  fc.assert(
    fc.property(fc.oneof(fc.string(), marked, fc.jsonValue()), (wire) => {
      expect(readThoughts(wire)).toEqual([]);
    }),
  );
});
