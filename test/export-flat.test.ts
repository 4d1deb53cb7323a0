import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSums, makeUsageStore } from '../tools/bench/usage-store.ts';
import { watchPeakMemory } from './support/peak-memory.ts';
import {
  configureDirectory,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { isSlow } from './support/slow-form.ts';

const rows = isSlow ? 150_000 : 6_000;
/** Half of the two exports is 70 MiB of text: a gateway that gathers it stands out, once it has all that it works with. */
const growthMibMax = isSlow ? 48 : 160;
const restMs = isSlow ? 3_000 : 300;
const newline = 10;

const opened = new AsyncDisposableStack();
let serving: ServingProcess;
let token = '';

beforeAll(async () => {
  const { path } = opened.use(temporaryDirectory());
  const { options } = configureDirectory(path, { channels: [] });
  const file = join(path, 'headgate.sqlite');
  makeUsageStore(file, rows, () => undefined);
  makeSums(file);
  serving = opened.use(await serveHeadgate(options));
  token = readFileSync(join(path, 'operator-token'), 'utf8').trim();
}, 120_000);
afterAll(() => opened.disposeAsync());

function open(format: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  const url = `${serving.ready.consoleOrigin}/api/v1/calls/export?format=${format}`;
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
}

/** Reads all of it, and rests in its middle; gives its lines. */
async function readWithRest(format: string, resting: () => Promise<unknown>): Promise<number> {
  const response = await open(format);
  expect(response.statusCode).toBe(200);
  let [lines, hasRested] = [0, false];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++;
    if (hasRested || lines < rows / 2) continue;
    hasRested = true;
    // Nothing is read meanwhile: a loop that does not ask for more stops the response.
    await resting();
  }
  expect(hasRested).toBe(true);
  return lines;
}

test(`exports of ${rows} calls are whole, and hold no more for a reader that rests`, async () => {
  const { pid = 'self' } = serving.process;
  let growthMib: () => number | null = () => null;
  const watched = async () => {
    ({ growthMib } = watchPeakMemory(pid));
    await delay(restMs);
  };
  const [csv, ndjson] = await Promise.all([
    readWithRest('csv', watched),
    readWithRest('ndjson', () => delay(restMs)),
  ]);
  // The table has a line of titles.
  expect([csv, ndjson]).toEqual([rows + 1, rows]);
  console.log(`exports of ${rows} calls: ${growthMib()?.toFixed(0)} MiB more in their second half`);
  expect(growthMib() ?? 0).toBeLessThan(growthMibMax);
}, 180_000);
