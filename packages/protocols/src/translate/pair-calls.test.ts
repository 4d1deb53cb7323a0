import { expect, test } from 'vitest';
import type { Block, Message } from '../turn.ts';
import { pairCalls } from './pair-calls.ts';

const call = (id: string): Block => ({
  kind: 'tool-call',
  id,
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed: null,
});
const result = (callId: string): Block => ({
  kind: 'tool-result',
  callId,
  isError: false,
  content: [{ kind: 'text', text: 'noon', citations: [], cacheTtl: null }],
  cacheTtl: null,
});
const model = (...content: readonly Block[]): Message => ({ role: 'assistant', content, name: null });
const user = (...content: readonly Block[]): Message => ({ role: 'user', content, name: null });

/** `+a`: a call, `=a`: its result. */
function shape(messages: readonly Message[]): string {
  return pairCalls(messages)
    .flatMap(({ content }) => content.map(short))
    .join(' ');
}

function short(block: Block): string {
  if (block.kind === 'tool-call') return `+${block.id}`;
  if (block.kind === 'tool-result') return `=${block.callId}`;
  return block.kind === 'text' && block.text === 'noon' ? 'noon' : 'note';
}

test.each<[string, readonly Message[], string]>([
  ['ids of their own stay', [model(call('a'), call('b')), user(result('b'), result('a'))], '+a +b =b =a'],
  [
    'an id that every answer begins with anew',
    [model(call('call_0')), user(result('call_0')), model(call('call_0')), user(result('call_0'))],
    '+call_0 =call_0 +call_0_2 =call_0_2',
  ],
  ['parallel calls without ids', [model(call(''), call('')), user(result(''), result(''))], '+ +_2 = =_2'],
  [
    'a made id that is in use',
    [model(call('a_2'), call('a')), model(call('a')), user(result('a_2'), result('a'))],
    '+a_2 +a +a_3 =a_2 =a_3',
  ],
  ['a result before its call', [user(result('a')), model(call('a'))], 'note noon +a'],
  ['a second result', [model(call('a')), user(result('a'), result('a'))], '+a =a note noon'],
])('%s', (_, messages, expected) => {
  expect(shape(messages)).toBe(expected);
});
