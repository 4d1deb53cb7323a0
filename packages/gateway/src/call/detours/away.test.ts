import { expect, test } from 'vitest';
import { Rig } from '../call.fixture.ts';

const speaks = { messages: '/messages' };
const messages = [{ role: 'user', content: 'x'.repeat(200_000) }];

test('a call whose translation elsewhere does not come in its time leaves the queue, and is told to come again', async () => {
  let hasLeft = false;
  const translate = () => () => {
    hasLeft = true;
  };
  const rig = new Rig({
    speaks,
    limits: { callMs: 30_000 },
    parts: { translator: { translate, readAnswer() {} } },
  });
  const { done } = rig.start(false, 'answer', { messages });
  await rig.pass(29_000);
  expect(hasLeft).toBe(false);
  await rig.pass(2_000);
  await done;
  expect(hasLeft).toBe(true);
  expect(rig.reply.status).toBe(503);
  expect(rig.reply.text).toContain('overloaded');
  expect(rig.settled).toMatchObject([{ status: 'failed', attempts: [], chargeNanoUsd: 0n }]);
});
