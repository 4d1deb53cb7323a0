import { expect, test } from 'vitest';
import { brokenBounds, reportText } from '../tools/fuzz/report.ts';
import { runFuzz } from '../tools/fuzz/run.ts';
import { isSlow } from './support/slow-form.ts';

/** `npm run fuzz` sends a million. */
const requests = Number(process.env['HEADGATE_FUZZ_REQUESTS'] ?? (isSlow ? 60_000 : 1000));

test(`${requests} requests that are wrong somewhere, at upstreams that are wrong at times, break nothing`, {
  timeout: 900_000,
}, async () => {
  const seed = Number(process.env['HEADGATE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
  const result = await runFuzz({ seed, requests, callers: 32, idleMs: isSlow ? 2000 : 500 });
  if (isSlow) console.log(reportText(result));
  expect(brokenBounds(result)).toEqual([]);
  // A fuzz whose requests are all turned away at the door would find nothing.
  expect(result.statuses.get(200) ?? 0).toBeGreaterThan(requests / 10);
  expect(result.entries).toBeGreaterThan(requests / 3);
});
