import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Command } from './command.ts';
import { faultNames, readCommand } from './command.ts';

function commandOf(...texts: readonly string[]): Command {
  const read = readCommand(...texts);
  if (!read.ok) throw new Error(read.problem);
  return read.command;
}

describe('a command', () => {
  test('without words is a well-behaved answer', () => {
    const plain = commandOf('');
    expect(plain).toMatchObject({
      fault: null,
      ttftMs: 0,
      usage: 'asked',
      share: 1,
      times: null,
      tokens: null,
    });
    expect(plain.stallMs).toBe(Number.POSITIVE_INFINITY);
  });

  test('reads every kind of value', () => {
    expect(commandOf('ttft=1.5s,rate=50/s,drip=5/10ms,split=seed:7,share=12.5%,crlf')).toMatchObject({
      ttftMs: 1_500,
      framesPerSecond: 50,
      drip: { bytes: 5, everyMs: 10 },
      split: { kind: 'random', seed: 7 },
      share: 0.125,
      crlf: true,
    });
    expect(commandOf('fault=503').fault).toEqual({ kind: 'status', status: 503 });
    expect(commandOf('finish=null').finish).toBeNull();
    expect(commandOf('finish=').finish).toBe('');
    expect(commandOf('crlf').finish).toBeUndefined();
  });

  test('is overridden word by word by a later text', () => {
    const command = commandOf('ttft=1s,tokens=4,crlf', 'tokens=9,crlf=no');
    expect(command).toMatchObject({ ttftMs: 1_000, tokens: 9, crlf: false });
  });

  test.each([
    'tokens=many',
    'tokens=-1',
    'ttft=200',
    'rate=0/s',
    'rate=50',
    'share=101%',
    'split=0',
    'drip=0/10ms',
    'usage=sometimes',
    'fault=200',
    'fault=reset-somewhere',
    'fault=error-before-head',
    'crlf=maybe',
    'unheard-of',
  ])('%s is a problem that names it', (word) => {
    const read = readCommand(`ttft=1s,${word}`);
    expect(read.ok ? '' : read.problem).toContain(word);
  });

  test('any text is either read or refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readCommand(text);
        expect(read.ok || read.problem.startsWith('The simulator')).toBe(true);
      }),
    );
  });
});

describe('the README', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const tableWords = readme
    .split('\n')
    .filter((line) => /^\| `[a-z-]+(=|`)/.test(line))
    .flatMap((line) =>
      Array.from((line.split(' | ')[0] ?? '').matchAll(/`([a-z-]+(?:=[^`]*)?)`/g), (match) => match[1] ?? ''),
    );

  test('shows words that can be read', () => {
    expect(tableWords.length).toBeGreaterThan(30);
    const unreadable = tableWords
      .map((word) => (faultNames.includes(word) ? `fault=${word}` : word))
      .filter((word) => !readCommand(word).ok);
    expect(unreadable).toEqual([]);
  });
});
