import { expect, test } from 'vitest';
import { call } from '../tools/faults/caller.ts';
import { runningGateway, startHeadgate } from '../tools/faults/gateways.ts';
import { playScene } from '../tools/faults/run.ts';
import { scenes } from '../tools/faults/scenes.ts';
import { startUpstreams, strike } from '../tools/faults/upstreams.ts';

const pace = { callsPerSecond: 8, warmUpCalls: 1, faultMs: 600, recoveryMsMax: 0 };

function scenesOf(...ids: readonly string[]) {
  return scenes.filter(({ id }) => ids.includes(id));
}

test('what fails before its content, or as a whole, ends whole elsewhere, and nothing is passed off as complete', {
  timeout: 60_000,
}, async () => {
  const chosen = scenesOf('healthy', 'status-500', 'refused', 'html', 'empty', 'json-truncated', 'end-after');
  const upstreams = await startUpstreams(chosen, 0);
  const gateway = await startHeadgate(upstreams.tiers, 'plain');
  for (const tiers of upstreams.tiers) {
    const { calls, whole, passedOff } = await playScene(gateway, tiers, pace);
    expect(calls).toBeGreaterThan(2);
    // Only what breaks off after its beginning is lost, and is told to be.
    expect([tiers.scene.id, whole, passedOff]).toEqual([
      tiers.scene.id,
      tiers.scene.id === 'end-after' ? 0 : calls,
      0,
    ]);
  }
  await gateway.stop();
  await upstreams.close();
});

test('one that rescues ends what breaks off after its beginning whole, too', {
  timeout: 60_000,
}, async () => {
  const upstreams = await startUpstreams(scenesOf('cut-after', 'end-after'), 0);
  const gateway = await startHeadgate(upstreams.tiers, 'rescuing');
  for (const tiers of upstreams.tiers) {
    const { calls, whole, passedOff } = await playScene(gateway, tiers, pace);
    expect(calls).toBeGreaterThan(2);
    expect([tiers.scene.id, whole, passedOff]).toEqual([tiers.scene.id, calls, 0]);
  }
  await gateway.stop();
  await upstreams.close();
});

test('an answer that ends as if it were complete, and is not, is seen to be passed off', async () => {
  const cutShort = { id: 'short', title: 'five words and an end', fault: 'tokens=5', stream: true };
  const upstreams = await startUpstreams([cutShort], 0);
  for (const tiers of upstreams.tiers) {
    const route = runningGateway(tiers.preferred.origin, '').routeOf(tiers);
    expect(await call(route)).toMatchObject({ ending: 'whole', by: 'preferred' });
    await strike(tiers);
    expect(await call(route)).toMatchObject({ ending: 'passed-off', by: null });
  }
  await upstreams.close();
});
