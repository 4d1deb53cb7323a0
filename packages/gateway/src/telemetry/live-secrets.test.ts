import { expect, test } from 'vitest';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { LiveSecrets } from './live-secrets.ts';

/** The part of a snapshot that is looked at: one channel with credentials of these numbers. */
function snapshotOf(numbers: readonly number[]): Pick<Catalogue, 'channels'> {
  const credentials = numbers.map((n) => ({ id: `c${n}`, secret: `sk-${n}` }));
  const channels = new Map([['a', { credentials, secrets: [] as readonly string[] }]]);
  return { channels } as unknown as Pick<Catalogue, 'channels'>; // No other member of a channel is read.
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test('every secret in use is kept out of logs, however many there are', () => {
  const live = new LiveSecrets();
  const words = live.take(snapshotOf(upTo(2500)), []);
  expect(words.size).toBe(2500);
});

test('secrets that were exchanged are remembered for a while, and not for ever', () => {
  const live = new LiveSecrets();
  live.take(snapshotOf([1]), []);
  expect([...live.take(snapshotOf([2]), [])]).toEqual(['sk-1', 'sk-2']);
  for (let n = 3; n < 1500; n++) live.take(snapshotOf([n]), []);
  const words = live.take(snapshotOf([1499]), []);
  expect(words.size).toBe(1001);
  expect(words.has('sk-1')).toBe(false);
});
