import { expect, test } from 'vitest';
import { readBody as readChat } from '../chat-completions/codec.fixture.ts';
import { turnOf as readMessages } from '../messages/codec.fixture.ts';
import { readBody as readResponses } from '../responses/codec.fixture.ts';
import { noteOwnMembers, TurnNotes } from './reading.ts';

test('each extension is told once, and what is insisted on stays so', () => {
  const notes = new TurnNotes();
  notes.lose('store');
  notes.insist('audio');
  notes.lose('audio');
  notes.lose('store');
  expect(notes.extensions).toEqual([
    { field: 'store', elsewhere: 'drop' },
    { field: 'audio', elsewhere: 'refuse' },
  ]);
});

test('the first thing that is wrong is the one that is told', () => {
  const notes = new TurnNotes();
  expect(notes.fault).toBeNull();
  notes.blame('tools', 'must be a list');
  notes.blame('stop', 'must be a text');
  expect(notes.fault).toMatchObject({
    code: 'invalid_request',
    param: 'tools',
    message: "'tools' must be a list.",
  });
});

test('what is left as it is asks for nothing, and what is switched off does', () => {
  const notes = new TurnNotes();
  const off = { enable_thinking: false, include_reasoning: false, transforms: [] };
  const idle = { store: false, background: null, safety_settings: [], context_management: {} };
  noteOwnMembers({ ...off, ...idle }, { understood: new Set(), insisted: new Set() }, notes);
  expect(notes.extensions.map(({ field }) => field)).toEqual(Object.keys(off));
});

test('a type of a tool that the caller has made up is named only where it is a short plain word', () => {
  const long = 'web_search_'.padEnd(500, 'x');
  const madeUp = [long, 'a b', 'line\n', '\ud83d', 'computer_999'].map((type) => ({ type, name: 'b' }));
  const look = { type: 'function', name: 'look', function: { name: 'look' } };
  const tools = [look, ...madeUp];
  const turns = [
    readChat({ messages: [{ role: 'user', content: 'Hello.' }], tools }),
    readResponses({ input: 'Hello.', tools }),
    readMessages({ tools: [{ name: 'look', input_schema: {} }, ...madeUp] }),
  ];
  for (const { extensions } of turns) {
    const fields = extensions.map(({ field }) => field);
    expect(new Set(fields)).toEqual(new Set(['tools[].other', 'tools[].computer_999']));
  }
});
