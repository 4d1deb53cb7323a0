import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WatchedText } from './watched-text.ts';

let directory = '';
let path = '';
let nowMs = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-secret-'));
  path = join(directory, 'secret');
});
afterEach(() => rmSync(directory, { recursive: true }));

async function opened(): Promise<WatchedText> {
  const watched = new WatchedText(path);
  await watched.openOnce();
  return watched;
}

/** Looks twice: a change is read once it has stopped changing. */
async function settled(watched: WatchedText, elapsedMs = 250) {
  await watched.look(nowMs);
  nowMs += elapsedMs;
  await watched.look(nowMs);
  return watched.reading;
}

test('a file renamed over another is read, whole', async () => {
  writeFileSync(path, 'one');
  const watched = await opened();
  expect(watched.reading).toEqual({ ok: true, value: 'one' });
  writeFileSync(`${path}.new`, 'two');
  renameSync(`${path}.new`, path);
  expect(await watched.look(0)).toBe(false);
  expect(await watched.look(0)).toBe(true);
  expect(watched.reading).toEqual({ ok: true, value: 'two' });
  expect(await watched.look(0)).toBe(false);
});

test('links that move, as container mounts have them, are followed', async () => {
  for (const version of ['..1', '..2']) mkdirSync(join(directory, version));
  writeFileSync(join(directory, '..1', 'secret'), 'one');
  writeFileSync(join(directory, '..2', 'secret'), 'two');
  const data = join(directory, '..data');
  symlinkSync('..1', data);
  symlinkSync(join('..data', 'secret'), path);
  const watched = await opened();
  symlinkSync('..2', `${data}_tmp`);
  renameSync(`${data}_tmp`, data);
  expect(await settled(watched)).toEqual({ ok: true, value: 'two' });
});

test('a file that is emptied and written again never loses its text', async () => {
  writeFileSync(path, 'one');
  const watched = await opened();
  truncateSync(path);
  expect(await settled(watched)).toEqual({ ok: true, value: 'one' });
  writeFileSync(path, 'two');
  expect(await settled(watched)).toEqual({ ok: true, value: 'two' });
});

test('one that stays empty is missing after a while', async () => {
  writeFileSync(path, 'one');
  const watched = await opened();
  truncateSync(path);
  await settled(watched);
  expect(await settled(watched, 5000)).toEqual({ ok: false, error: 'is empty' });
});

test.each([
  ['a directory', () => mkdirSync(path), 'is no file'],
  ['nothing', () => undefined, 'is not there'],
  ['too much', () => writeFileSync(path, 'x'.repeat(65_537)), 'is larger than 64 KiB'],
])('%s has no text', async (_, make, error) => {
  make();
  expect((await opened()).reading).toEqual({ ok: false, error });
});

test.each([
  [0o600, false],
  [0o440, false],
  [0o644, true],
])('the mode %o is exposed: %s', async (mode, isExposed) => {
  writeFileSync(path, 'one', { mode });
  expect((await opened()).isExposed).toBe(isExposed);
});
