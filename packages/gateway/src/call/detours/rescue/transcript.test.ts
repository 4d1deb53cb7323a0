import { expect, test } from 'vitest';
import { Transcript } from './transcript.ts';

/** The memory of a caller who may hold so many bytes. */
function memoryOf(bytesMax: number) {
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take(bytes: number): boolean {
      if (taken + bytes > bytesMax) return false;
      taken += bytes;
      return true;
    },
    giveBack(bytes: number): void {
      taken -= bytes;
    },
  };
}

function says(transcript: Transcript, kind: 'text' | 'reasoning', text: string, frames: number): void {
  transcript.take([{ kind: 'block-start', block: { kind } }], 200);
  for (let frame = 0; frame < frames; frame++)
    transcript.take([{ kind: 'delta', delta: { kind: 'text', text } }], text.length + 200);
  if (kind === 'reasoning') transcript.take([{ kind: 'block-stop' }], 200);
}

test('thoughts and frames without words are counted as long as they are kept', () => {
  const memory = memoryOf(Number.POSITIVE_INFINITY);
  const transcript = new Transcript(memory);
  says(transcript, 'reasoning', 'x'.repeat(100), 1000);
  expect(memory.taken).toBeGreaterThan(400_000 - 32 * 1024);
  transcript.take([], 400_000);
  expect(memory.taken).toBeGreaterThan(2_000_000 - 32 * 1024);
  says(transcript, 'text', 'One', 1);
  expect(transcript.text).toBe('One');
});

test('more than is kept of one answer is given up, and so is what there is no room for', () => {
  const unbounded = new Transcript(memoryOf(Number.POSITIVE_INFINITY));
  says(unbounded, 'reasoning', 'x'.repeat(1000), 1100);
  expect(unbounded.isLost).toBe(true);
  const crowded = new Transcript(memoryOf(100_000));
  says(crowded, 'text', 'x'.repeat(100), 1000);
  expect(crowded.text).toBeNull();
  expect(crowded.isLost).toBe(true);
});
