import { protocols, type RequestInput, succeed } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { Wires } from '../catalogue/wire.ts';
import type { UpstreamHandler } from '../ports/upstream.ts';
import { asking, streamed } from '../route/route.fixture.ts';
import { chatCompletions, Rig } from './call.fixture.ts';

const wholeAnswer =
  '{"model":"m","choices":[{"message":{"content":"One"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}';
const wholeStream =
  'data: {"model":"m","choices":[{"index":0,"delta":{"content":"One"},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\ndata: [DONE]\n\n';

/** Reads a request that must not be done twice. */
function rarely(input: RequestInput) {
  const read = chatCompletions().readRequest(input);
  if (!read.ok) return read;
  const { facts, wantsUsageFrame, framing } = read.value;
  const passThrough: typeof read.value.passThrough = (target) => read.value.passThrough(target);
  return succeed({ facts, wantsUsageFrame, framing, passThrough, repeatable: false as const });
}

function resultsOf(rig: Rig): readonly string[] {
  return rig.settled.flatMap(({ attempts }) =>
    attempts.map(({ channelId, result }) => `${channelId} ${result}`),
  );
}

describe('the only channel there is', () => {
  test('is asked again after a moment, and its answer is the call', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(503);
    // Chance is 0.5 in a rig: half way between 50 and 250 ms.
    await rig.pass(149);
    expect(rig.asked).toEqual(['c1']);
    await rig.pass(1);
    expect(rig.asked).toEqual(['c1', 'c1']);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete', ttftMs: 150, overheadUs: 0 }]);
    expect(rig.reply.headers.join()).toContain('x-headgate-attempts,2');
    expect(resultsOf(rig)).toEqual(['c1 refused', 'c1 answered']);
  });

  test('is asked after the time it names, with signs of life meanwhile', async () => {
    const rig = new Rig({ limits: { keepAliveMs: 1000 } });
    const { done } = rig.start(true);
    await rig.refuse(429, { 'retry-after': '2' });
    await rig.pass(1000);
    expect(rig.reply.text).toBe(': keep-alive\n\n');
    await rig.pass(1000);
    expect(rig.asked).toEqual(['c1']);
    await rig.pass(150);
    rig.answer(true, wholeStream);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete', ttftMs: 2150 }]);
  });

  test('is not waited for longer than a caller is held', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(429, { 'retry-after': '6' });
    await done;
    expect(rig.reply.status).toBe(429);
    expect(rig.reply.headers.join()).toContain('retry-after,6');
  });

  test('is not waited for beyond the deadline', async () => {
    const rig = new Rig({ limits: { callMs: 2000 } });
    const { done } = rig.start(false);
    await rig.refuse(429, { 'retry-after': '2' });
    await done;
    expect(rig.reply.status).toBe(429);
  });

  test('has the attempts of a call and no more, a quick refusal costing less only once', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    for (let n = 0; n < 4; n++) {
      await rig.refuse(503);
      await rig.pass(250);
    }
    await done;
    expect(rig.reply.status).toBe(502);
    expect(rig.asked).toHaveLength(4);
  });

  test.each([
    ['the request is at fault', 400, 'invalid_value'],
    ['it lacks the model', 404, 'model_not_found'],
    ['it refuses our credential', 401, 'invalid_api_key'],
  ])('is not asked again where %s', async (_, status, code) => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(status, {}, JSON.stringify({ error: { message: 'No.', code } }));
    await done;
    expect(rig.asked).toEqual(['c1']);
  });

  test('is not asked again when it was silent for all the time it has', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    await rig.pass(30_000);
    await done;
    expect(rig.asked).toEqual(['c1']);
    expect(rig.settled).toMatchObject([{ status: 'timed_out' }]);
  });

  test('is asked once more after a conflict, and then it is believed', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(409);
    await rig.pass(150);
    await rig.refuse(409);
    await done;
    expect(rig.asked).toHaveLength(2);
    expect(rig.reply.status).toBe(502);
  });

  test('is asked again out of a budget once it is more likely to fail than not', async () => {
    const rig = new Rig();
    for (let call = 0; call < 60; call++) {
      const { done } = rig.start(false);
      const before = rig.settled.length;
      for (let n = 0; n < 6 && rig.settled.length === before; n++) {
        await rig.refuse(503);
        await rig.pass(150);
      }
      await done;
    }
    // One attempt a call, and second ones out of ten at first, one for five calls and one for each second.
    expect(rig.sent.length).toBeGreaterThan(60);
    expect(rig.sent.length).toBeLessThan(60 * 1.75);
  });

  test('is not asked again while the process stops', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    rig.gateway.watchdog.endsAt = 30_000;
    await rig.refuse(503);
    await done;
    expect(rig.asked).toEqual(['c1']);
    expect(rig.reply.status).toBe(502);
  });

  test('is waited for no longer than the process may wait', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(429, { 'retry-after': '4' });
    rig.gateway.watchdog.endsAt = 2000;
    await rig.pass(1000);
    await done;
    expect(rig.asked).toEqual(['c1']);
    expect(rig.settled).toMatchObject([{ status: 'failed', chargeNanoUsd: 0n }]);
  });

  test('is not asked for a caller who hangs up meanwhile', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.refuse(503);
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.settled).toMatchObject([
      { status: 'caller_gone', unbilledReason: 'caller_gone_before_content', chargeNanoUsd: 0n },
    ]);
    await rig.pass(1000);
    expect(rig.asked).toEqual(['c1']);
  });

  test('is not asked twice for what may be done once only, unless it refused it', async () => {
    const once = { readRequest: rarely };
    const rig = new Rig({ protocol: once });
    const { done } = rig.start(false);
    rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: '' });
    await done;
    expect(rig.asked).toEqual(['c1']);
    const again = new Rig({ protocol: once });
    const call = again.start(false);
    await again.refuse(429);
    await again.pass(150);
    again.answer(false, wholeAnswer);
    await call.done;
    expect(again.asked).toEqual(['c1', 'c1']);
    expect(again.sent.map(({ fresh }) => fresh)).toEqual([true, true]);
  });
});

describe('where there is another channel', () => {
  test('none is asked twice', async () => {
    const rig = new Rig({ channels: 2 });
    const { done } = rig.start(false);
    await rig.refuse(503);
    await rig.refuse(503);
    await done;
    expect(rig.asked).toEqual(['c1', 'c2']);
    expect(rig.reply.status).toBe(502);
  });

  test('one that is blocked for a moment is waited for', async () => {
    const rig = new Rig({ channels: 2 });
    const first = rig.start(false);
    await rig.refuse(429, { 'retry-after': '2' });
    rig.answer(false, wholeAnswer);
    await first.done;
    const { done } = rig.start(false);
    await rig.refuse(401, {}, '{"error":{"message":"No.","code":"invalid_api_key"}}');
    await rig.pass(2150);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.asked).toEqual(['c1', 'c2', 'c2', 'c1']);
    expect(rig.settled).toMatchObject([{ status: 'complete' }, { status: 'complete' }]);
  });
});

describe('a call that finds everything blocked', () => {
  async function blocked(options: ConstructorParameters<typeof Rig>[0], seconds: string): Promise<Rig> {
    const rig = new Rig(options);
    const { done } = rig.start(false);
    await rig.refuse(429, { 'retry-after': seconds });
    await rig.pass(0);
    rig.reply.listener?.onCallerGone();
    await done;
    return rig;
  }

  test('waits where it is not for long', async () => {
    const rig = await blocked({}, '3');
    const { done } = rig.start(false);
    await rig.pass(3150);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled[1]).toMatchObject({ status: 'complete', ttftMs: 3150, attempts: [{ n: 1 }] });
  });

  test('is told when to come back where it is', async () => {
    const rig = await blocked({}, '9');
    await rig.start(false).done;
    expect(rig.asked).toHaveLength(1);
    expect(rig.reply.headers.join()).toContain('retry-after,9');
    expect(rig.settled[1]).toMatchObject({ unbilledReason: 'refused_by_gateway', attempts: [] });
  });

  test('and where too many wait already', async () => {
    const rig = await blocked({ waitingMax: 1 }, '3');
    const waiting = rig.start(false);
    await rig.start(false).done;
    expect(rig.reply.headers.join()).toContain('retry-after,3');
    await rig.pass(3150);
    rig.answer(false, wholeAnswer);
    await waiting.done;
    expect(rig.settled.map(({ status }) => status)).toEqual(['caller_gone', 'failed', 'complete']);
  });

  test('ends when its caller hangs up', async () => {
    const rig = await blocked({}, '3');
    const { done } = rig.start(true);
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.settled[1]).toMatchObject({ status: 'caller_gone', httpStatus: null, attempts: [] });
  });
});

test('a channel that is full once its media have been fetched is waited for', async () => {
  const fetching = Promise.withResolvers<void>();
  const url = 'https://pictures.test/one.png';
  const picture = { mediaType: 'image/png', base64: 'AAAA' };
  const media = { fetch: () => fetching.promise.then(() => succeed(new Map([[url, picture]]))) };
  const rig = new Rig({
    speaks: { 'generate-content': '/models/{model}:{method}' },
    maxConcurrency: 1,
    parts: { media },
  });
  const model = rig.gateway.catalogue.current.models.get('demo');
  const [target] = model?.targets ?? [];
  if (model === undefined || target === undefined) throw new Error('a model with a target');
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const { done } = rig.start(false, 'answer', { messages });
  const other = rig.gateway.router.attempt(target, asking(streamed, model), rig.gateway.clock.now());
  fetching.resolve();
  await rig.pass(0);
  expect(rig.asked).toEqual([]);
  other.noteEnd(null, rig.gateway.clock.now());
  await rig.pass(1150);
  expect(rig.asked).toEqual(['c1']);
  const parts = [{ text: 'A picture' }];
  rig.answer(false, JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }));
  await done;
  expect(rig.settled).toMatchObject([{ status: 'complete', attempts: [{ n: 1 }] }]);
});

describe('a call that is too long', () => {
  const tooLong =
    '{"error":{"message":"Too long: at most 8000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}';

  test('goes to a channel that declares to take more, and only there', async () => {
    const rig = new Rig({ channels: 3, contextWindows: [8000, 8000, 32_000] });
    const { done } = rig.start(false);
    expect(rig.asked).not.toEqual(['c3']);
    await rig.refuse(400, {}, tooLong);
    expect(rig.asked.at(-1)).toBe('c3');
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test.each([
    ['nobody knows what the other takes', [8000, null]],
    ['nobody knows what either takes', [null, null]],
    ['nobody knows what the first takes', [null, 8000]],
  ])('is tried elsewhere where %s', async (_, contextWindows) => {
    const rig = new Rig({ channels: 2, contextWindows });
    const { done } = rig.start(false);
    await rig.refuse(400, {}, tooLong);
    expect(rig.asked).toEqual(['c1', 'c2']);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test.each([
    ['no other takes more', [8000, 8000], 1],
    ['a second one of which nobody knew says the same', [null, null, null], 2],
  ])('goes nowhere else where %s', async (_, contextWindows, asked) => {
    const rig = new Rig({ channels: contextWindows.length, contextWindows });
    const { done } = rig.start(false);
    for (let n = 0; n < asked; n++) await rig.refuse(400, {}, tooLong);
    await done;
    expect(rig.asked).toHaveLength(asked);
    expect(rig.reply.status).toBe(400);
    expect(rig.reply.text).toContain('context_length_exceeded');
  });

  test('is told so, even where the larger channel fails in another way', async () => {
    const rig = new Rig({ channels: 2, contextWindows: [8000, 32_000] });
    const { done } = rig.start(false);
    await rig.refuse(400, {}, tooLong);
    expect(rig.asked).toEqual(['c1', 'c2']);
    for (let n = 0; n < 4 && rig.settled.length === 0; n++) {
      await rig.refuse(503);
      await rig.pass(250);
    }
    await done;
    expect(rig.reply.status).toBe(400);
    expect(rig.reply.text).toContain('context_length_exceeded');
  });
});

describe('a connection that throws where it may not', () => {
  const isBroken = () => {
    throw new Error('a bug of the connection');
  };
  const breakingOff = () => {
    const handlers: UpstreamHandler[] = [];
    const rig = new Rig({
      parts: {
        wires: new Wires(protocols, {
          line: () => ({
            send: (_headers, _body, _fresh, handler) => {
              handlers.push(handler);
              return { pause: isBroken, resume: isBroken, gather: isBroken, isSent: true, abort: isBroken };
            },
          }),
        }),
      },
    });
    return { rig, handlers };
  };

  test('loses no call whose caller has gone', async () => {
    const { rig } = breakingOff();
    const { done } = rig.start(true);
    rig.reply.gone = true;
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.settled).toHaveLength(1);
    expect(rig.alerts).toEqual(['bug']);
  });

  test('loses no call that it has failed', async () => {
    const { rig, handlers } = breakingOff();
    const { done } = rig.start(true);
    for (let n = 0; n < 20 && rig.settled.length === 0; n++) {
      handlers.at(-1)?.onFailure({ kind: 'reset', detail: '' });
      await rig.pass(1000);
    }
    await done;
    expect(rig.settled).toMatchObject([{ status: 'failed' }]);
    expect(rig.alerts).toContain('bug');
  });
});
