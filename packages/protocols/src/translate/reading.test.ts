import { expect, test } from 'vitest';
import { TurnNotes } from './reading.ts';

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
