import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallProgress } from '../../route/progress.ts';
import { asking, streamed } from '../../route/route.fixture.ts';
import { Router } from '../../route/router.ts';
import type { Attempt } from '../attempt.ts';
import { caller, chatCompletions, Rig, type RigOptions } from '../call.fixture.ts';
import { Call } from '../request.ts';
import { Hedge } from './hedge.ts';

const frame = (choice: object) =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
const role = frame({ delta: { role: 'assistant' } });
const words = (text: string) => frame({ delta: { content: text } });
const end = `${frame({ delta: {}, finish_reason: 'stop' })}data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\ndata: [DONE]\n\n`;

/** Silence after which a second attempt is sent where nothing is known of the first's channel. */
const silenceMs = 2600;

function hedging(options: RigOptions = {}): Rig {
  return new Rig({ channels: 2, routing: { hedging: true }, ...options });
}

/** A call of which both attempts are under way, each of which has said no more than a role. */
async function duel(options: RigOptions = {}) {
  const rig = hedging(options);
  const { done } = rig.start(true);
  rig.answer(true, role, 'more', 0);
  await rig.pass(silenceMs);
  rig.answer(true, role, 'more', 1);
  return { rig, done };
}

function routed({ gateway }: Rig) {
  const { router } = gateway;
  const model = gateway.catalogue.current.models.get('demo');
  if (!(router instanceof Router) || model === undefined) throw new Error('a router and a model');
  return { router, model };
}

/** The router's opinion of the channels now, the best first. */
function explained(rig: Rig) {
  const { router, model } = routed(rig);
  return router.explain(asking(streamed, model), rig.gateway.clock.now()).candidates;
}

describe('a second attempt beside a silent first', () => {
  test('is sent when nearly all streams would have begun, roles being no content', async () => {
    const rig = hedging();
    const { done } = rig.start(true);
    rig.answer(true, role, 'more');
    await rig.pass(silenceMs - 1);
    expect(rig.asked).toEqual(['c1']);
    await rig.pass(1);
    expect(rig.asked).toEqual(['c1', 'c2']);
    rig.answer(true, words('One') + end);
    await done;
  });

  test.each([0, 1])('the first content wins, that of %i', async (winner) => {
    const { rig, done } = await duel();
    rig.answer(true, words('won'), 'more', winner);
    const loser = rig.sent[1 - winner];
    expect(loser?.isAborted).toBe(true);
    loser?.handler.onData(Buffer.from(words('lost') + end));
    loser?.handler.onEnd();
    rig.sent[winner]?.handler.onData(Buffer.from(words('indeed') + end));
    await done;
    expect(rig.reply.ending).toBe('clean');
    expect(rig.reply.text).toMatch(/won.*indeed.*DONE/s);
    expect(rig.reply.text).not.toContain('lost');
    expect(rig.settled).toMatchObject([
      {
        status: 'complete',
        channelId: `c${winner + 1}`,
        usage: { inputFresh: 3, output: 4 },
        ttftMs: silenceMs,
        attempts: [
          { n: 1, channelId: `c${2 - winner}`, result: 'aborted' },
          { n: 2, channelId: `c${winner + 1}`, result: 'answered' },
        ],
      },
    ]);
    expect(rig.settled[0]?.attempts[0]?.usage?.inputFresh).toBeGreaterThan(0);
  });

  test('what the loser costs is booked, and not charged', async () => {
    const { rig, done } = await duel();
    rig.answer(true, words('One') + end, 'whole', 1);
    await done;
    const alone = hedging();
    const call = alone.start(true);
    alone.answer(true, role + words('One') + end);
    await call.done;
    expect(rig.settled[0]?.chargeNanoUsd).toBe(alone.settled[0]?.chargeNanoUsd);
  });

  test('an answer that is all in its last frame wins, too', async () => {
    const { rig, done } = await duel();
    rig.answer(
      true,
      `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n${end}`,
      'whole',
      1,
    );
    rig.sent[0]?.handler.onData(Buffer.from(words('late')));
    await done;
    expect(rig.reply.text).not.toContain('late');
    expect(rig.settled[0]?.attempts.map(({ result }) => result)).toEqual(['aborted', 'answered']);
  });

  test.each([0, 1])('one that fails leaves the other, that of %i', async (failing) => {
    const { rig, done } = await duel();
    rig.sent[failing]?.handler.onFailure({ kind: 'reset', detail: '' });
    await rig.pass(0);
    expect(rig.settled).toEqual([]);
    rig.answer(true, words('One'), 'more', 1 - failing);
    expect(rig.reply.text).toContain('One');
    rig.sent[1 - failing]?.handler.onData(Buffer.from(end));
    await done;
    expect(rig.settled).toMatchObject([
      { status: 'complete', attempts: [{ result: 'cut_before_content' }, { result: 'answered' }] },
    ]);
  });

  test('when both fail, the call has a third', async () => {
    const { rig, done } = await duel({ channels: 3 });
    rig.sent[1]?.handler.onFailure({ kind: 'reset', detail: '' });
    rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: '' });
    await rig.pass(0);
    expect(new Set(rig.asked)).toEqual(new Set(['c1', 'c2', 'c3']));
    rig.answer(true, words('One') + end);
    await done;
    expect(rig.settled[0]?.attempts.map(({ result }) => result)).toEqual([
      'cut_before_content',
      'cut_before_content',
      'answered',
    ]);
  });

  test('when both fail and there is no third, the caller is told', async () => {
    const { rig, done } = await duel();
    for (const { handler } of rig.sent) handler.onFailure({ kind: 'reset', detail: '' });
    await done;
    expect(rig.reply.status).toBe(502);
    expect(rig.asked).toHaveLength(2);
  });

  test('a refusal of the request decides, whichever of the two it is of', async () => {
    const rig = hedging();
    const { done } = rig.start(true);
    await rig.pass(silenceMs);
    await rig.refuse(400, {}, '{"error":{"message":"No such thing.","code":"invalid_value"}}');
    await done;
    expect(rig.sent[0]?.isAborted).toBe(true);
    expect(rig.reply).toMatchObject({ status: 400, ending: 'clean' });
    expect(rig.settled[0]?.attempts.map(({ result }) => result)).toEqual(['aborted', 'refused']);
  });

  test.each([
    ['answers', 'complete', 200],
    ['fails', 'failed', 400],
  ] as const)('a call too long for one of them is not for the other, which %s', async (how, status, told) => {
    const { rig, done } = await duel({ channels: 3, contextWindows: [1000, 9000, 500] });
    const { handler } = rig.sent[rig.asked.indexOf('c1')] ?? {};
    const refusal = { message: 'Too long.', code: 'context_length_exceeded' };
    handler?.onData(Buffer.from(`data: ${JSON.stringify({ error: refusal })}\n\n`));
    await rig.pass(0);
    const larger = rig.asked.indexOf('c2');
    expect(rig.sent[larger]?.isAborted).toBe(false);
    if (how === 'answers') rig.answer(true, words('One') + end, 'whole', larger);
    else rig.sent[larger]?.handler.onFailure({ kind: 'reset', detail: '' });
    await done;
    expect(rig.settled).toMatchObject([{ status, httpStatus: told }]);
    expect(rig.asked.toSorted()).toEqual(['c1', 'c2']);
  });

  test('both end when the caller hangs up', async () => {
    const { rig, done } = await duel();
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.sent.map(({ isAborted }) => isAborted)).toEqual([true, true]);
    expect(rig.settled).toMatchObject([
      { status: 'caller_gone', chargeNanoUsd: 0n, unbilledReason: 'caller_gone_before_content' },
    ]);
    expect(rig.settled[0]?.attempts).toHaveLength(2);
  });

  test('both end when the process may wait no longer', async () => {
    const { rig, done } = await duel();
    rig.gateway.watchdog.endsAt = 0;
    await rig.pass(0);
    await done;
    expect(rig.sent.map(({ isAborted }) => isAborted)).toEqual([true, true]);
    expect(rig.settled).toMatchObject([{ status: 'failed', errorCode: 'overloaded' }]);
  });

  test.each([0, 1])('a slow caller slows the winner, which is %i', async (winner) => {
    const { rig, done } = await duel();
    rig.reply.isFull = true;
    rig.answer(true, words('One'), 'more', winner);
    expect(rig.sent[winner]?.isPaused).toBe(true);
    rig.reply.isFull = false;
    rig.reply.listener?.onCallerWritable();
    expect(rig.sent[winner]?.isPaused).toBe(false);
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.settled).toMatchObject([{ status: 'caller_gone', unbilledReason: null }]);
  });

  test('one that loses has not failed, but is slow', async () => {
    const { rig, done } = await duel();
    rig.answer(true, words('One') + end, 'whole', 1);
    await done;
    const [winner, loser] = explained(rig);
    expect([winner?.channelId, loser?.channelId]).toEqual(['c2', 'c1']);
    expect(loser?.chance).toBeCloseTo(0.97);
    expect(loser?.waitMs).toBeGreaterThan(2000);
  });

  test('one that was asked last and loses is as it was', async () => {
    const { rig, done } = await duel();
    const seen = () => explained(rig).find(({ channelId }) => channelId === 'c2');
    await rig.pass(100);
    rig.answer(true, words('One') + end, 'whole', 0);
    await done;
    expect(seen()?.chance).toBeCloseTo(0.97);
    expect(seen()?.waitMs).toBe(1000);
  });
});

describe('no second attempt is sent', () => {
  test.each<[string, RigOptions, boolean]>([
    ['where the group does not want it', { routing: { hedging: false } }, true],
    ['where there is no other channel', { channels: 1 }, true],
    ['for an answer that is no stream', {}, false],
  ])('%s', async (_, options, stream) => {
    const rig = hedging(options);
    rig.start(stream);
    await rig.pass(silenceMs);
    expect(rig.asked).toEqual(['c1']);
  });

  test('while the process stops', async () => {
    const rig = hedging();
    rig.start(true);
    rig.gateway.watchdog.endsAt = 30_000;
    await rig.pass(silenceMs);
    expect(rig.asked).toEqual(['c1']);
  });

  test('once the first has begun or failed', async () => {
    const rig = hedging();
    rig.start(true);
    rig.answer(true, role + words('One'), 'more');
    await rig.pass(silenceMs);
    expect(rig.asked).toEqual(['c1']);
  });

  test('for more than three calls in a hundred', async () => {
    const rig = hedging();
    const calls = 200;
    for (let n = 0; n < calls; n++) {
      const { done } = rig.start(true);
      const sent = rig.sent.length;
      await rig.pass(silenceMs);
      // A caller who leaves teaches nothing: were each of them answered so late, none would be late any more.
      if (rig.sent.length > sent) rig.answer(true, words('Two') + end);
      else rig.reply.listener?.onCallerGone();
      await done;
    }
    const seconds = rig.sent.length - calls;
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThanOrEqual(1 + 0.03 * calls);
  });
});

type Move =
  | readonly ['content' | 'role' | 'end' | 'reset' | 'refuse' | 'garble', 0 | 1]
  | readonly ['gone' | 'time'];

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom('content', 'role', 'end', 'reset', 'refuse', 'garble'),
      fc.constantFrom(0 as const, 1 as const),
    ),
    fc.constantFrom<Move>(['gone'], ['time']),
  ),
  { maxLength: 12 },
);

/** An upstream does nothing once its exchange has ended: a client would not tell. */
async function play(rig: Rig, [move, place]: Move): Promise<void> {
  if (move === 'gone') return rig.reply.listener?.onCallerGone();
  if (move === 'time') return rig.pass(9000);
  const sent = rig.sent[place ?? 0];
  if (sent === undefined || sent.isAborted || sent.isDone) return;
  const { handler } = sent;
  if (move === 'content') rig.answer(true, words(`of-${place}`), 'more', place);
  if (move === 'role') rig.answer(true, role, 'more', place);
  if (move === 'end') rig.answer(true, words(`of-${place}`) + end, 'whole', place);
  if (move === 'garble') rig.answer(true, 'data: {{{\n\n', 'more', place);
  if (move === 'reset') handler.onFailure({ kind: 'reset', detail: '' });
  if (move === 'refuse') {
    handler.onHead({ status: 503, headers: new Map() });
    handler.onEnd();
  }
  sent.isDone ||= move === 'end' || move === 'reset' || move === 'refuse';
  await rig.pass(0);
}

test('whatever the two do: one entry, one answer, and the caller sees the words of one', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (all) => {
      const { rig, done } = await duel({ limits: { callMs: 60_000 } });
      for (const move of all) await play(rig, move);
      for (let n = 0; n < 8 && rig.settled.length === 0; n++) await rig.pass(30_000);
      await done;
      expect(rig.settled).toHaveLength(1);
      const { attempts, status } = rig.settled[0] ?? { attempts: [] };
      expect(attempts.filter(({ result }) => result === 'answered').length).toBe(
        status === 'complete' ? 1 : 0,
      );
      expect(rig.reply.text.includes('of-0') && rig.reply.text.includes('of-1')).toBe(false);
      if (status === 'complete') expect(rig.reply.ending).toBe('clean');
      else expect(rig.reply.text).not.toContain('[DONE]');
      expect(rig.alerts).toEqual([]);
      const { router, model } = routed(rig);
      expect(model.targets.map((target) => router.inFlight(target))).toEqual([0, 0]);
    }),
  );
});

test('an attempt that its call has let go of takes the question for a second one with it', async () => {
  const { rig, done } = await duel();
  const { gateway, reply } = rig;
  const call = new Call(gateway, rig.inbound(true), caller, chatCompletions(), reply, null);
  const { model } = routed(rig);
  let beside = 0;
  const askBeside = () => {
    beside++;
    return true;
  };
  const progress = new CallProgress(3, true);
  const hedge = new Hedge(call, asking(streamed, model), progress, [], 100, askBeside);
  const outrun = { outcome: { kind: 'outrun', reading: null } };
  // Of an attempt it reads the outcome alone.
  hedge.onOutcome(outrun as Attempt);
  expect(hedge.index).toBe(-1);
  rig.answer(true, words('One') + end, 'whole', 1);
  await done;
  await rig.pass(1000);
  expect(beside).toBe(0);
});
