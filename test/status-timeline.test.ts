import { setTimeout } from 'node:timers/promises';
import { type FleetMember, startSimulatorFleet } from '@headgate/simulator';
import { expect, test } from 'vitest';
import { spansOf, type ToldSpan, toldOf } from '../tools/live/status-timeline.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { isSlow } from './support/slow-form.ts';

/** For the status page so much of this run is a cell of five minutes. */
const msPerCell = isSlow ? 500 : 250;
const callsPerSecond = 100;
const calm = 'ttft=150ms,tokens=2';

/** What befalls the channel that is hit, for so many cells, and what must be told of it and of the model that it alone serves. */
interface Blow {
  readonly cells: number;
  readonly calmCells: number;
  readonly strike: (hit: FleetMember) => Promise<void>;
  readonly mend: (hit: FleetMember) => Promise<void>;
  readonly channel: readonly ToldSpan['worst'][];
  readonly model: readonly ToldSpan['worst'][];
}

const scripted = (words: string) => ({
  strike: (hit: FleetMember) => hit.setScript(words),
  mend: (hit: FleetMember) => hit.setScript(calm),
});

const outage: Blow = {
  ...{ cells: 7, calmCells: 10, channel: ['outage'], model: ['outage'] },
  strike: (hit) => hit.goDown(),
  mend: (hit) => hit.comeUp(),
};
const blows: readonly Blow[] = isSlow
  ? [
      outage,
      // Calls of the model are tried again, so fewer of them fail than attempts; a channel that fails so often may be let rest, too.
      {
        ...{
          cells: 7,
          calmCells: 9,
          channel: ['partial', 'outage'],
          model: ['degraded', 'partial', 'outage'],
        },
        ...scripted(`${calm},fault=500,share=30%`),
      },
      {
        ...{ cells: 8, calmCells: 10, channel: ['degraded'], model: ['degraded'] },
        ...scripted('ttft=1500ms,tokens=2'),
      },
    ]
  : [outage];

/** What begins is told this many cells later at the most, and what is over likewise: circuits and calls under way take their time. */
const [lateMax, lingersMax] = [4, 9];

test('what befalls channels under load is told as the incidents that it was, and nothing else is', {
  timeout: 120_000,
}, async () => {
  const fleet = await startSimulatorFleet([{ script: calm }, { script: calm }]);
  const [hit, healthy] = fleet.members;
  if (hit === undefined || healthy === undefined) throw new Error('there are two simulators');
  {
    await using gateway = await openTestGateway({
      channels: [
        { id: 'hit', origin: hit.origin, models: { lone: 'a', saved: 'b' } },
        { id: 'healthy', origin: healthy.origin, models: { saved: 'b' } },
      ],
    });
    const startMs = Date.now();
    const cellNow = () => (Date.now() - startMs) / msPerCell;
    const calls = callEvenly(gateway);
    await setTimeout((isSlow ? 9 : 5) * msPerCell);
    const struck: { readonly blow: Blow; readonly fromCell: number; readonly toCell: number }[] = [];
    for (const blow of blows) {
      const fromCell = cellNow();
      await blow.strike(hit);
      await setTimeout(blow.cells * msPerCell);
      await blow.mend(hit);
      struck.push({ blow, fromCell, toCell: cellNow() });
      await setTimeout(blow.calmCells * msPerCell);
    }
    await calls.stop();
    await gateway.store.ledger.flush();
    const entries = await Array.fromAsync(gateway.store.exportEntries({}));
    const spans = spansOf(toldOf(entries, { startMs, msPerCell }));
    const told = spans.map(
      ({ subject, worst, fromCell, toCell }) => `${subject} ${worst} ${fromCell}-${toCell}`,
    );
    const script = struck.map(({ fromCell, toCell }) => `${fromCell.toFixed(1)}-${toCell.toFixed(1)}`);
    for (const [subject, words] of [
      ['channel hit', 'channel'],
      ['model lone', 'model'],
    ] as const) {
      const own = spans.filter((span) => span.subject === subject);
      expect(own.length, `${told} for ${script}`).toBe(struck.length);
      for (const [place, { blow, fromCell, toCell }] of struck.entries()) {
        const span = own[place];
        expect(blow[words], `${told} for ${script}`).toContain(span?.worst);
        expect(Math.abs((span?.fromCell ?? 0) - fromCell), `${told} for ${script}`).toBeLessThan(lateMax);
        expect(Math.abs((span?.toCell ?? 0) - toCell), `${told} for ${script}`).toBeLessThan(lingersMax);
      }
    }
    // The model that the other channel saves has no outage, whatever befalls the first; the other channel has nothing at all.
    const others = spans.filter(({ subject }) => subject !== 'channel hit' && subject !== 'model lone');
    for (const { subject, worst } of others)
      expect(`${subject} ${worst}`, `${told} for ${script}`).toBe('model saved degraded');
  }
  await fleet.close();
});

/** Streams come whatever happens, of each model in turn. */
function callEvenly({ apiOrigin, keys }: TestGateway): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>();
  let count = 0;
  const call = async (): Promise<void> => {
    const answer = await fetch(`${apiOrigin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.completions}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: count % 2 === 0 ? 'lone' : 'saved', stream: true },
        messages: [{ role: 'user', content: 'Hello.' }],
      }),
    });
    await answer.text();
  };
  const since = performance.now();
  const timer = setInterval(() => {
    for (; count < ((performance.now() - since) / 1000) * callsPerSecond; count++) {
      const ended = call().finally(() => running.delete(ended));
      running.add(ended);
    }
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
