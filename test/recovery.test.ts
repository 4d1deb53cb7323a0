import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { startSimulator } from '@headgate/simulator';
import { describe, expect, test } from 'vitest';
import { openTestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange, RawConnection } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';

/** Behind each of these stands a channel that answers at once. */
const silences = {
  'says nothing': 'sim+fault=stall-before-head',
  'says that it has begun, and no more': 'sim+fault=stall-before-content',
  'takes twenty seconds': 'sim+tokens=3,ttft=20s',
  'takes comments for words': 'sim+tokens=3,ttft=20s,keep-alive=500ms',
} as const;

const first = Object.entries(silences);

describe('what a silent first channel costs a caller', () => {
  test('is five seconds at the most, where a second one is healthy', { timeout: 60_000 }, async () => {
    const simulator = await startSimulator();
    await using gateway = await openTestGateway({
      channels: first.flatMap(([, command], place) => [
        { id: `silent-${place}`, origin: simulator.origin, priority: 0, models: { [`m-${place}`]: command } },
        {
          id: `well-${place}`,
          origin: simulator.origin,
          priority: 1,
          models: { [`m-${place}`]: 'sim+tokens=3' },
        },
      ]),
    });
    // All runs in this process. What a busy machine takes of its loop makes it late once when the wait begins, and once when it ends.
    const lateness = monitorEventLoopDelay({ resolution: 10 });
    lateness.enable();
    const waits = first.map(async ([name], place) => {
      const body = { model: `m-${place}`, messages: [{ role: 'user', content: 'Hi' }], stream: true };
      const connection = new RawConnection(gateway.apiOrigin).send(
        chatRequest(gateway.keys.completions, body),
      );
      const answer = await connection.answer();
      connection.close();
      const { status, attempts } = await entryOf(gateway, answer.headers.get('x-trace-id'));
      expect([name, status]).toEqual([name, 'complete']);
      expect(attempts.map(({ channelId }) => channelId)).toEqual([`silent-${place}`, `well-${place}`]);
      return attempts[0]?.durationMs ?? 0;
    });
    const waitsMs = await Promise.all(waits);
    lateness.disable();
    const waitMsMax = 5000 + (2 * lateness.max) / 1e6;
    for (const waitMs of waitsMs) expect(waitMs).toBeLessThanOrEqual(waitMsMax);
    await simulator.close();
  });
});

/** How long the preferred channel is gone, and in which way; a long one is probed less often. */
const outages: readonly (readonly [name: string, command: string | null, lengthMs: number])[] = isSlow
  ? [
      ['refuses connections', null, 75_000],
      ['hangs', 'fault=stall-before-head', 75_000],
      ['fails', 'fault=500', 20_000],
      ['is at its limit', 'fault=429,retry-after=2s', 20_000],
    ]
  : [['fails', 'fault=500', 4000]];

describe('a preferred tier that is back', () => {
  test.concurrent.each(outages)(
    'gets its traffic within thirty seconds, when it %s for a while',
    { timeout: 200_000 },
    async (_, command, lengthMs) => {
      const [preferred, spare] = [await startSimulator(), await startSimulator()];
      await using gateway = await openTestGateway({
        channels: [
          { id: 'preferred', origin: preferred.origin, priority: 0, models: { m: 'sim+tokens=3' } },
          { id: 'spare', origin: spare.origin, priority: 1, models: { m: 'sim+tokens=3' } },
        ],
      });
      const call = async () => {
        const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true };
        const answer = await exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, body));
        const { status, channelId } = await entryOf(gateway, answer.headers.get('x-trace-id'));
        expect(status).toBe('complete');
        return channelId;
      };
      expect(await call()).toBe('preferred');
      if (command === null) await preferred.control.goDown();
      else preferred.control.setScript(command);
      const until = performance.now() + lengthMs;
      const served: (string | null)[] = [];
      while (performance.now() < until) served.push(...(await pacedCalls(call)));
      // It has been left alone by then: callers do not find out for each other.
      expect(served.slice(-5)).toEqual(Array.from({ length: 5 }, () => 'spare'));
      if (command === null) await preferred.control.comeUp();
      else preferred.control.setScript('');
      const backAt = performance.now();
      const after: (string | null)[] = [];
      while (after.slice(-10).filter((channel) => channel === 'preferred').length < 10) {
        expect(performance.now() - backAt).toBeLessThan(30_000);
        after.push(...(await pacedCalls(call)));
      }
      await preferred.close();
      await spare.close();
    },
  );
});

/** Some calls at once, and a pause: five a second. */
async function pacedCalls(call: () => Promise<string | null>): Promise<readonly (string | null)[]> {
  const served = await Promise.all([call(), call()]);
  await setTimeout(400);
  return served;
}
