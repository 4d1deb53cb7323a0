import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFloodUpstream, wholeAnswerBytes } from './support/flood-upstream.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { scrapeMetrics } from './support/metrics.ts';
import { type PeakMemory, watchPeakMemory } from './support/peak-memory.ts';
import { RawConnection } from './support/raw-http.ts';
import { jsonScript, startScriptedUpstream } from './support/scripted-upstream.ts';

const mebibyte = 1024 * 1024;
/** Beyond it a body is decompressed a second time. */
const usualRatio = 8;

let memory: PeakMemory;
beforeAll(() => {
  memory = watchPeakMemory();
});
afterAll(() => memory.expectBounded());

function post(
  { apiOrigin, keys }: TestGateway,
  body: Uint8Array | string,
  headers: Record<string, string> = {},
  key = keys.completions,
) {
  return fetch(`${apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
}

const asking = (model: string, content: string) =>
  JSON.stringify({ model, messages: [{ role: 'user', content }] });

async function heldBytes({ consoleOrigin, dataDir }: TestGateway): Promise<number> {
  const text = await scrapeMetrics(consoleOrigin, dataDir);
  return Number(/^headgate_held_bytes (\d+)$/m.exec(text)?.[1]);
}

describe('memory that calls hold', () => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let gateway: TestGateway;

  beforeAll(async () => {
    simulator = await startSimulator();
    gateway = await openTestGateway({
      channels: [
        { id: 'echo', origin: simulator.origin, models: { echo: 'echo+tokens=1' } },
        {
          id: 'foreign',
          origin: simulator.origin,
          models: { foreign: 'foreign+tokens=1' },
          protocols: { messages: '/messages' },
        },
        {
          id: 'patient',
          origin: simulator.origin,
          hangUp: 'always',
          models: { wordy: 'wordy+tokens=20000,ttft=400ms', slow: 'slow+tokens=30,rate=20/s' },
        },
      ],
      moreKeys: { other: { account: 'other' } },
      flags: { 'memory-max': '32MiB' },
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await simulator.close();
  });

  test('few bytes that become many are refused, and hold nothing', async () => {
    const bomb = zstdCompressSync(Buffer.alloc(16 * mebibyte, ' '));
    expect(bomb.length).toBeLessThan(2000);
    const before = process.memoryUsage().arrayBuffers;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => post(gateway, bomb, { 'content-encoding': 'zstd' })),
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(512 * mebibyte);
    for (const answer of answers) {
      expect([413, 503]).toContain(answer.status);
      await answer.text();
    }
    const alone = await post(gateway, bomb, { 'content-encoding': 'zstd' });
    expect(alone.status).toBe(413);
    expect(await alone.text()).toContain('100 times as long');
    expect(await heldBytes(gateway)).toBe(0);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('a text that %s makes much shorter is taken', async (encoding, compress) => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `line ${(n * 7919) % 10_007} of a long log\n`);
    const text = asking('echo', lines.join(''));
    const compressed = compress(text);
    expect(text.length / compressed.length).toBeGreaterThan(usualRatio);
    const answer = await post(gateway, compressed, { 'content-encoding': encoding });
    expect(answer.status).toBe(200);
    await answer.text();
    await expect.poll(() => heldBytes(gateway)).toBe(0);
  });

  test('bodies that stop coming hold their places, and only their key is refused', async () => {
    const length = 4 * mebibyte;
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.keys.completions}\r\n`;
    const unfinished = Array.from({ length: 8 }, () => {
      const connection = new RawConnection(gateway.apiOrigin);
      return connection.send(`${head}content-length: ${length}\r\n\r\n`).send(Buffer.alloc(length - 1, ' '));
    });
    const refused = await Promise.race(unfinished.map((connection) => connection.answer()));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body.toString()).toContain('hold as much memory as they may');
    const answer = await post(gateway, asking('echo', 'x'.repeat(mebibyte)), {}, gateway.moreKeys['other']);
    expect(answer.status).toBe(200);
    await answer.text();
    for (const connection of unfinished) connection.close();
    await expect.poll(() => heldBytes(gateway), { timeout: 10_000 }).toBe(0);
  });

  test('what a translation holds is counted, and given back', async () => {
    const answer = await post(gateway, asking('foreign', 'x'.repeat(2 * mebibyte)));
    expect(answer.status).toBe(200);
    await answer.text();
    const large = await post(gateway, asking('foreign', 'x'.repeat(7 * mebibyte)));
    expect(large.status).toBe(503);
    await large.text();
    await expect.poll(() => heldBytes(gateway)).toBe(0);
  });

  const headOf = (fields: string): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.keys.completions}\r\n${fields}\r\n\r\n`;
  /** With an extension, which another parser judges: what has come until then is read again. */
  const inOddChunks = (text: string): string => {
    const half = text.length >> 1;
    const rest = text.length - half;
    const first = `${half.toString(16)}\r\n${text.slice(0, half)}\r\n`;
    return `${headOf('transfer-encoding: chunked')}${first}${rest.toString(16)};odd=1\r\n${text.slice(half)}\r\n0\r\n\r\n`;
  };

  test('what attempts hold is given back when they fail, and not counted again for the next', async () => {
    const garbled = await startScriptedUpstream();
    garbled.script = jsonScript(`no JSON ${'x'.repeat(4 * mebibyte)}`);
    {
      await using trying = await openTestGateway({
        channels: [
          ...['first', 'second'].map((id) => ({
            id,
            origin: garbled.origin,
            models: { m: 'm' },
            protocols: { messages: '/messages' },
          })),
          {
            id: 'slow',
            origin: simulator.origin,
            models: { m: 'm+tokens=1,ttft=3s' },
            protocols: { messages: '/messages' },
          },
        ],
      });
      const body = asking('m', 'x'.repeat(2 * mebibyte));
      const answer = post(trying, body);
      await expect
        .poll(() => simulator.requests.some((request) => Buffer.from(request.body).includes('ttft=3s')))
        .toBe(true);
      // The body in its place, what is read of it, and what the third attempt sends.
      expect(await heldBytes(trying)).toBeLessThan(8.5 * mebibyte);
      expect(await heldBytes(trying)).toBeGreaterThan(4 * mebibyte);
      expect((await answer).headers.get('x-headgate-attempts')).toBe('3');
      await (await answer).text();
      await expect.poll(() => heldBytes(trying)).toBe(0);
    }
    garbled.close();
  });

  test('a body that two parsers have read is held once, and given back', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    connection.send(inOddChunks(asking('echo', 'x'.repeat(mebibyte))));
    expect((await connection.answer()).status).toBe(200);
    connection.close();
    await expect.poll(() => heldBytes(gateway)).toBe(0);
  });

  test('a body whose turn never comes, since its caller leaves before it, is given back', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const slow = JSON.stringify({ ...JSON.parse(asking('slow', 'x')), stream: true });
    connection.send(inOddChunks(slow));
    await connection.seen('data: ');
    const next = asking('echo', 'x'.repeat(mebibyte));
    connection.send(headOf(`content-length: ${next.length}`) + next);
    await expect.poll(() => heldBytes(gateway)).toBeGreaterThan(mebibyte);
    connection.close();
    await expect.poll(() => heldBytes(gateway), { timeout: 5000 }).toBe(0);
  });

  test('an answer that is read on without its caller is held until its end, and given back', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const body = asking('wordy', 'x');
    connection.send(headOf(`content-length: ${body.length}`) + body);
    await delay(150);
    connection.close();
    await expect
      .poll(async () => (await entriesOf(gateway, { model: 'wordy' })).map(({ status }) => status), {
        timeout: 5000,
      })
      .toEqual(['caller_gone']);
    expect(await heldBytes(gateway)).toBe(0);
  });
});

test('who wants several huge answers at once gets what there is, and nobody else is refused', {
  timeout: 60_000,
}, async () => {
  const upstream = await startFloodUpstream(1);
  const simulator = await startSimulator();
  {
    await using gateway = await openTestGateway({
      channels: [
        { id: 'flood', origin: upstream.origin, models: { flood: 'flood' } },
        { id: 'echo', origin: simulator.origin, models: { echo: 'echo+tokens=1' } },
      ],
      moreKeys: { other: { account: 'other' } },
      flags: { 'memory-max': '192MiB', 'stall-timeout': '20s' },
    });
    // Their bodies are not read: what is answered stays with the gateway.
    const greedy = await Promise.all(Array.from({ length: 6 }, () => post(gateway, asking('flood', 'all'))));
    const statuses = greedy.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(503);
    const refused = greedy.find(({ status }) => status === 503);
    expect(await refused?.json()).toMatchObject({ error: { code: 'overloaded' } });
    expect(refused?.headers.get('retry-after')).not.toBeNull();
    expect(await heldBytes(gateway)).toBeGreaterThan(wholeAnswerBytes);
    const other = gateway.moreKeys['other'];
    const large = asking('echo', 'x'.repeat(4 * mebibyte));
    const others = await Promise.all(Array.from({ length: 4 }, () => post(gateway, large, {}, other)));
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const answer of others) await answer.text();
    for (const answer of greedy) if (answer.ok) await answer.body?.cancel();
    await expect.poll(() => heldBytes(gateway), { timeout: 10_000 }).toBe(0);
  }
  await simulator.close();
  upstream.close();
});
