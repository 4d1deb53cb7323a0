import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block, Message } from '../turn.ts';
import { orderTurns, pairCalls } from './turn-order.ts';

const text = (words: string): Block => ({ kind: 'text', text: words, citations: [], cacheTtl: null });
const call = (id: string): Block => ({
  kind: 'tool-call',
  id,
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed: null,
});
const result = (callId: string, words = callId): Block => ({
  kind: 'tool-result',
  callId,
  isError: false,
  content: [{ kind: 'text', text: words, citations: [], cacheTtl: null }],
  cacheTtl: null,
});
const say = (role: Message['role'], ...content: readonly Block[]): Message => ({ role, content, name: null });

/** The turns in short: `u:hi,=a` is a user who says hi and answers call a. */
function shape(messages: readonly Message[]): readonly string[] {
  return orderTurns(messages).map(({ role, content }) => `${role[0]}:${content.map(short).join()}`);
}

function short(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'tool-call':
      return `+${block.id}`;
    case 'tool-result':
      return `${block.isError ? '!' : '='}${block.callId}`;
    default:
      return block.kind;
  }
}

const orphan = '[Result of a tool call that is not part of this conversation]';

describe('turns', () => {
  test.each<[string, readonly Message[], readonly string[]]>([
    ['neighbours are merged', [say('user', text('a')), say('user', text('b'))], ['u:a,b']],
    ['the user begins', [say('assistant', text('a'))], ['u:Continue.', 'a:a']],
    ['nothing is a user who begins', [], ['u:Continue.']],
    [
      'empty text is left out, and a turn of nothing else',
      [say('user', text('a')), say('assistant', text(' \n')), say('user', text(''), text('b'))],
      ['u:a,b'],
    ],
    [
      'an instruction in the middle is said in place',
      [say('user', text('a')), say('assistant', text('b')), say('system', text('c'))],
      ['u:a', 'a:b', 'u:<system>\nc\n</system>'],
    ],
    [
      'all results of one turn come first, in the order of the calls',
      [
        say('user', text('a')),
        say('assistant', call('1'), call('2')),
        say('user', text('now')),
        say('user', result('2')),
        say('user', result('1')),
      ],
      ['u:a', 'a:+1,+2', 'u:=1,=2,now'],
    ],
    [
      'a missing result is made up as an error, also at the end',
      [
        say('user', text('a')),
        say('assistant', call('1')),
        say('user', text('b')),
        say('assistant', call('2')),
      ],
      ['u:a', 'a:+1', 'u:!1,b', 'a:+2', 'u:!2'],
    ],
    [
      'a result without its call, or a second one, is text',
      [
        say('user', result('0', 'x')),
        say('assistant', call('1')),
        say('user', result('1', 'y'), result('1', 'z')),
      ],
      [`u:${orphan},x`, 'a:+1', `u:=1,${orphan},z`],
    ],
  ])('%s', (_, messages, turns) => {
    expect(shape(messages)).toEqual(turns);
  });

  const block = fc.oneof(
    fc.constantFrom('a', '', ' ').map(text),
    fc.constantFrom('1', '2').map(call),
    fc.constantFrom('1', '2', '3').map((id) => result(id)),
  );
  const message = fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    content: fc.array(block, { maxLength: 4 }),
    name: fc.constant(null),
  });

  test('alternate from the user on, with a result for every call right after it', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const turns = orderTurns(messages);
        for (const [at, turn] of turns.entries()) {
          expect(turn.role).toBe(at % 2 === 0 ? 'user' : 'assistant');
          expect(turn.content.length).toBeGreaterThan(0);
          if (turn.role === 'user') continue;
          const called = new Set(
            turn.content.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : [])),
          );
          const next = turns[at + 1]?.content.slice(0, called.size) ?? [];
          expect(next.map((part) => (part.kind === 'tool-result' ? part.callId : null))).toEqual([...called]);
        }
      }),
    );
  });
});

const noon = (callId: string): Block => result(callId, 'noon');
const model = (...content: readonly Block[]): Message => ({ role: 'assistant', content, name: null });
const user = (...content: readonly Block[]): Message => ({ role: 'user', content, name: null });

/** `+a`: a call, `=a`: its result. */
function paired(messages: readonly Message[]): string {
  return pairCalls(messages)
    .flatMap(({ content }) => content.map(inShort))
    .join(' ');
}

function inShort(block: Block): string {
  if (block.kind === 'tool-call') return `+${block.id}`;
  if (block.kind === 'tool-result') return `=${block.callId}`;
  return block.kind === 'text' && block.text === 'noon' ? 'noon' : 'note';
}

test.each<[string, readonly Message[], string]>([
  ['ids of their own stay', [model(call('a'), call('b')), user(noon('b'), noon('a'))], '+a +b =b =a'],
  [
    'an id that every answer begins with anew',
    [model(call('call_0')), user(noon('call_0')), model(call('call_0')), user(noon('call_0'))],
    '+call_0 =call_0 +call_0_2 =call_0_2',
  ],
  ['parallel calls without ids', [model(call(''), call('')), user(noon(''), noon(''))], '+ +_2 = =_2'],
  [
    'a made id that is in use',
    [model(call('a_2'), call('a')), model(call('a')), user(noon('a_2'), noon('a'))],
    '+a_2 +a +a_3 =a_2 =a_3',
  ],
  ['a result before its call', [user(noon('a')), model(call('a'))], 'note noon +a'],
  ['a second result', [model(call('a')), user(noon('a'), noon('a'))], '+a =a note noon'],
])('%s', (_, messages, expected) => {
  expect(paired(messages)).toBe(expected);
});
