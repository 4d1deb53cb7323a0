import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileWatch, watchFile } from './file-watch.ts';

let directory = '';
let path = '';
let watch: FileWatch;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-watch-'));
  path = join(directory, 'headgate.yaml');
  writeFileSync(path, 'one');
  watch = watchFile(path, 'one');
});
afterEach(() => rmSync(directory, { recursive: true }));

function look(times: number): readonly (string | null)[] {
  return Array.from({ length: times }, () => watch.poll());
}

describe('watching a file', () => {
  test('says nothing while nothing changes', () => {
    expect(look(4)).toEqual([null, null, null, null]);
  });

  test('waits until a change has settled, and tells it once', () => {
    look(2);
    writeFileSync(path, 'two');
    expect(look(3)).toEqual([null, 'two', null]);
  });

  test('does not read a file that is still being written', () => {
    look(2);
    writeFileSync(path, 'tw');
    expect(watch.poll()).toBeNull();
    writeFileSync(path, 'two and more');
    expect(look(3)).toEqual([null, 'two and more', null]);
  });

  test('notices a file renamed over it, as editors do', () => {
    look(2);
    writeFileSync(`${path}.new`, 'six');
    renameSync(`${path}.new`, path);
    expect(look(2)).toEqual([null, 'six']);
  });

  test('waits for a file that is gone, and is silent when it comes back the same', () => {
    look(2);
    rmSync(path);
    expect(look(3)).toEqual([null, null, null]);
    writeFileSync(path, 'one');
    expect(look(3)).toEqual([null, null, null]);
    rmSync(path);
    look(2);
    writeFileSync(path, 'two');
    expect(look(2)).toEqual([null, 'two']);
  });

  test('notices what changed between the first reading and the first look', () => {
    writeFileSync(path, 'two');
    expect(look(2)).toEqual([null, 'two']);
  });
});
