import { expect, test } from 'vitest';
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
