import {
  type Codec,
  countReading,
  fail,
  fault,
  type Protocol,
  protocols,
  type RequestInput,
  succeed,
  type Work,
} from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import type { Model } from '../catalogue/catalogue.ts';
import { Wires } from '../catalogue/wire.ts';
import { decodeRoute } from '../route/explain.ts';
import { chatCompletions, Rig } from './call.fixture.ts';

const chunk = (delta: object, finishReason: string | null = null) =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
const words = chunk({ content: 'One two three four' });
const usage = (output: number) =>
  `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":${output}}}\n\n`;
const wholeStream = `${words}${chunk({}, 'stop')}${usage(4)}data: [DONE]\n\n`;
const wholeAnswer =
  '{"model":"m","choices":[{"message":{"content":"One"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}';

test('tells at its end whether an upstream is still taking its body', async () => {
  for (const isSent of [true, false]) {
    const rig = new Rig();
    const { done } = rig.start(false);
    const [sent] = rig.sent;
    if (sent !== undefined) sent.isSent = isSent;
    rig.answer(false, wholeAnswer);
    expect(await done).toBe(isSent);
  }
});

describe('how a call was routed', () => {
  const routeOf = (rig: Rig) => decodeRoute(rig.settled[0]?.route ?? null);

  test('is kept with its entry, plan by plan', async () => {
    const rig = new Rig({ channels: 2 });
    const { done } = rig.start(true);
    await rig.pass(30_000);
    rig.answer(true, wholeStream);
    await done;
    const [first = '', second = ''] = rig.settled[0]?.attempts.map(({ channelId }) => channelId) ?? [];
    expect(routeOf(rig)).toMatchObject([
      { attemptsBefore: 0, firstChannelId: first, candidateCount: 2, exclusions: [] },
      {
        attemptsBefore: 1,
        firstChannelId: second,
        candidates: [{ channelId: second, share: 1 }],
        exclusions: [{ reason: 'tried', channelIds: [first] }],
      },
    ]);
    expect(rig.reply.text).not.toMatch(/"c[12]"|tried/);
  });

  test('is kept of a call that could go nowhere, too', async () => {
    const rig = new Rig({ speaks: { images: '/images' } });
    await rig.start(true).done;
    expect(rig.settled).toMatchObject([{ errorCode: 'no_available_channel', attempts: [] }]);
    expect(routeOf(rig)).toMatchObject([
      { choice: 'nothing', firstChannelId: null, exclusions: [{ reason: 'disabled', channelIds: ['c1'] }] },
    ]);
    expect(rig.reply.text).not.toContain('c1');
  });

  test('is nothing where nothing was planned', async () => {
    const rig = new Rig({ protocol: { readRequest: () => fail(fault('invalid_request')) } });
    await rig.start(true).done;
    expect(rig.settled).toMatchObject([{ route: null }]);
  });
});

test('a model that is not offered does not exist for callers, is not routed, and the operator hears of it', async () => {
  for (const work of ['answer', 'count'] as const) {
    const rig = new Rig({ isOffered: false });
    await rig.start(false, work).done;
    expect(rig.reply.status).toBe(404);
    expect(rig.alerts).toEqual(['unpriced-model']);
    expect(rig.settled[0]).toMatchObject({
      status: 'failed',
      errorCode: 'model_not_found',
      route: null,
      attempts: [],
    });
  }
});

describe('an end whose entry is not durable', () => {
  test('the body is withheld', async () => {
    const rig = new Rig({ settlement: 'unavailable' });
    const { done } = rig.start(false);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.reply).toMatchObject({ status: 503, ending: 'clean' });
    expect(rig.reply.text).toContain('"code":"store_unavailable"');
    expect(rig.reply.text).not.toContain('One');
    expect(rig.observed).toMatchObject([
      {
        status: 'failed',
        unbilledReason: 'ledger_failed',
        chargeNanoUsd: 0n,
        errorCode: 'store_unavailable',
        httpStatus: 503,
      },
    ]);
    expect(rig.alerts).toEqual(['ledger-unavailable']);
  });

  test('the stream is broken off', async () => {
    const rig = new Rig({ settlement: 'unavailable' });
    const { done } = rig.start(true);
    rig.answer(true, wholeStream);
    await done;
    expect(rig.reply).toMatchObject({ status: 200, ending: 'broken' });
    expect(rig.reply.text).toContain('One two');
    expect(rig.reply.text).toContain('"code":"store_unavailable"');
    expect(rig.reply.text).not.toContain('[DONE]');
    expect(rig.observed).toMatchObject([{ unbilledReason: 'ledger_failed', httpStatus: 200 }]);
  });

  test('a caller who has gone is not billed either', async () => {
    const rig = new Rig({ settlement: 'unavailable' });
    const { done } = rig.start(true);
    rig.answer(true, words, 'more');
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.observed).toMatchObject([
      {
        status: 'failed',
        unbilledReason: 'ledger_failed',
        chargeNanoUsd: 0n,
        errorCode: 'store_unavailable',
      },
    ]);
  });
});

describe('a count of tokens', () => {
  const counting = {
    readAnswer: () => countReading,
    encodeTokenCount: (tokens: number) => new TextEncoder().encode(`{"tokens":${tokens}}`),
  };
  const free = { status: 'complete', unbilledReason: 'token_count', chargeNanoUsd: 0n, usageSource: 'none' };

  test("is the upstream's own, and nobody's expense", async () => {
    const rig = new Rig({ protocol: counting });
    const { done } = rig.start(false, 'count');
    rig.answer(false, '{"tokens":3}');
    await done;
    expect(rig.reply).toMatchObject({ status: 200, text: '{"tokens":3}' });
    expect(rig.reply.headers).not.toContain('x-headgate-token-count');
    expect(rig.settled).toMatchObject([{ ...free, attempts: [{ costNanoUsd: 0n }] }]);
  });

  test('is an estimate where the upstream has no such endpoint, and says so', async () => {
    const rig = new Rig({ protocol: counting });
    const { done } = rig.start(false, 'count');
    rig.sent[0]?.handler.onHead({ status: 404, headers: new Map() });
    rig.sent[0]?.handler.onEnd();
    await done;
    expect(rig.reply.status).toBe(200);
    expect(rig.reply.text).toMatch(/^\{"tokens":\d+\}$/);
    expect(rig.reply.headers.slice(-2)).toEqual(['x-headgate-token-count', 'estimated']);
    expect(rig.settled).toMatchObject([free]);
    expect(rig.alerts).toEqual([]);
  });

  test("leaves a channel's health alone", async () => {
    const rig = new Rig({ protocol: counting });
    const { done } = rig.start(false, 'count');
    rig.sent[0]?.handler.onHead({ status: 429, headers: new Map([['retry-after', '60']]) });
    rig.sent[0]?.handler.onEnd();
    await done;
    const next = rig.start(false);
    expect(rig.sent).toHaveLength(2);
    rig.answer(false, wholeAnswer);
    await next.done;
  });

  test('is refused with the words of an upstream that refuses the request', async () => {
    const rig = new Rig({ protocol: counting });
    const { done } = rig.start(false, 'count');
    rig.sent[0]?.handler.onHead({ status: 400, headers: new Map() });
    rig.sent[0]?.handler.onData(Buffer.from('{"error":{"message":"No such block."}}'));
    rig.sent[0]?.handler.onEnd();
    await done;
    expect(rig.reply.status).toBe(400);
    expect(rig.reply.text).toContain('No such block.');
  });
});

describe('a caller who waits for a stream', () => {
  const sign = ': keep-alive\n\n';

  test('is told that the call lives whenever nothing came for a while, and then gets the answer as it is', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    await rig.pass(9_999);
    expect(rig.reply.status).toBeNull();
    await rig.pass(1);
    expect(rig.reply).toMatchObject({ status: 200, text: sign });
    await rig.pass(9_000);
    await rig.pass(1_000);
    rig.answer(true, words, 'more');
    expect(rig.reply.text).toBe(`${sign}${sign}${words}`);
    await rig.pass(10_000);
    rig.answer(true, wholeStream.slice(words.length));
    await done;
    expect(rig.reply.ending).toBe('clean');
    expect(rig.reply.text).toMatch(/^(: keep-alive\n\n){2}data: .*\n\n: keep-alive\n\ndata: /);
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('is answered by another channel all the same', async () => {
    const rig = new Rig({ channels: 2 });
    const { done } = rig.start(true);
    await rig.pass(10_000);
    await rig.pass(20_000);
    expect(rig.sent).toHaveLength(2);
    rig.answer(true, wholeStream);
    await done;
    expect(rig.reply.text).toMatch(/^(: keep-alive\n\n)+data: /);
    expect(rig.settled).toMatchObject([{ status: 'complete', attempts: [{ result: 'timed_out' }, {}] }]);
  });

  test('is told of a failure in-band, since its answer has begun', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    await rig.pass(10_000);
    await rig.pass(20_000);
    await done;
    expect(rig.reply).toMatchObject({ status: 200, ending: 'broken' });
    expect(rig.reply.text).toMatch(/^: keep-alive\n\n.*"code":"upstream_timeout"/s);
    expect(rig.settled).toMatchObject([{ status: 'timed_out', httpStatus: 200, chargeNanoUsd: 0n }]);
  });

  test('of JSON is told nothing', async () => {
    const rig = new Rig();
    const { done } = rig.start(false);
    await rig.pass(20_000);
    expect(rig.reply.status).toBeNull();
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.reply.text).toBe(wholeAnswer);
  });
});

test('a model that does not embed is none the worse for answers', async () => {
  const rig = new Rig();
  const refuse = async (work: Work) => {
    const { done } = rig.start(false, work);
    const handler = rig.sent.at(-1)?.handler;
    handler?.onHead({ status: 404, headers: new Map() });
    handler?.onData(
      Buffer.from('{"error":{"message":"The model m does not exist","code":"model_not_found"}}'),
    );
    handler?.onEnd();
    await done;
  };
  await refuse('embed');
  expect([rig.reply.status, rig.alerts]).toEqual([404, []]);
  await refuse('answer');
  expect([rig.reply.status, rig.alerts]).toEqual([404, ['model-missing-upstream']]);
});

describe('time', () => {
  test.each([true, false])('a hung channel leaves time for the next, stream: %s', async (stream) => {
    const rig = new Rig({ channels: 2 });
    const { done } = rig.start(stream);
    await rig.pass(stream ? 30_000 : 180_000);
    expect(rig.sent.map(({ call }) => call.channel.id)).toEqual(['c1', 'c2']);
    rig.answer(stream, stream ? wholeStream : wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete', httpStatus: 200 }]);
  });

  test('even when one attempt may take as long as the whole call', async () => {
    const rig = new Rig({ channels: 3, limits: { wholeAnswerMs: 600_000, callMs: 600_000 } });
    const { done } = rig.start(false);
    await rig.pass(200_000);
    await rig.pass(200_000);
    expect(rig.sent).toHaveLength(3);
    await rig.pass(199_000);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('a single channel has all of it', async () => {
    const rig = new Rig({ limits: { wholeAnswerMs: 600_000 } });
    const { done } = rig.start(false);
    await rig.pass(599_999);
    expect(rig.settled).toEqual([]);
    await rig.pass(1);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'timed_out', attempts: [{ detail: 'deadline' }] }]);
  });

  test.each([
    ['the stall', { stallMs: 1000 }],
    ['the deadline', { callMs: 1000, stallMs: 5000 }],
  ])('%s of a caller who does not read is its own', async (_, limits) => {
    const rig = new Rig({ limits });
    const { done } = rig.start(true);
    rig.reply.isFull = true;
    rig.answer(true, words, 'more');
    await rig.pass(1000);
    await done;
    expect(rig.settled).toMatchObject([
      { status: 'caller_gone', unbilledReason: null, attempts: [{ result: 'caller_gone' }] },
    ]);
    expect(rig.settled[0]?.chargeNanoUsd).toBeGreaterThan(0n);
    expect(rig.reply.ending).toBe('abandoned');
  });

  test('unless it is we who must stop', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.reply.isFull = true;
    rig.answer(true, words, 'more');
    rig.gateway.watchdog.endsAt = 1500;
    await rig.pass(1000);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'failed', chargeNanoUsd: 0n, errorCode: 'overloaded' }]);
  });

  test('is ours until the first request is sent', async () => {
    const rig: Rig = new Rig({ protocol: { readRequest: slowlyEncoding } });
    function slowlyEncoding(input: RequestInput) {
      const read = chatCompletions().readRequest(input);
      if (!read.ok) return read;
      const { facts, wantsUsageFrame, framing } = read.value;
      const passThrough: typeof read.value.passThrough = (target) => {
        rig.advance(2.5);
        return read.value.passThrough(target);
      };
      return succeed({ facts, wantsUsageFrame, framing, passThrough });
    }
    const { done } = rig.start(false);
    rig.answer(false, wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([{ overheadUs: 2500, durationMs: 2.5, attempts: [{ durationMs: 0 }] }]);
  });

  test.each([true, false])('to first content and our own, in the entry, stream: %s', async (stream) => {
    const rig = new Rig();
    const { done } = rig.start(stream);
    await rig.pass(700.1234);
    rig.answer(stream, stream ? wholeStream.trimEnd() : wholeAnswer);
    await done;
    expect(rig.settled).toMatchObject([
      {
        status: 'complete',
        ttftMs: 700.123,
        durationMs: 700.123,
        overheadUs: 0,
        attempts: [{ ttftMs: 700.123 }],
      },
    ]);
  });
});

test("what no channel takes is the caller's to leave out", async () => {
  const rig = new Rig();
  const { current } = rig.gateway.catalogue;
  const lacking = [...current.models].map(([id, model]): [string, Model] => [
    id,
    { ...model, targets: model.targets.map((target) => ({ ...target, lacks: new Set(['tools'] as const) })) },
  ]);
  const deprived = new Rig({ parts: { catalogue: { current: { ...current, models: new Map(lacking) } } } });
  const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
  await deprived.start(false, 'answer', { tools }).done;
  expect(deprived.reply.status).toBe(400);
  expect(deprived.reply.text).toContain('No channel of this model takes tools');
  expect(deprived.settled).toMatchObject([{ status: 'failed', errorCode: 'invalid_request', attempts: [] }]);
});

test('a rate limit tells the soonest wait of all, those not tried included', async () => {
  const rig = new Rig({ channels: 2 });
  const limit = (seconds: string): void => {
    const handler = rig.sent.at(-1)?.handler;
    handler?.onHead({ status: 429, headers: new Map([['retry-after', seconds]]) });
    handler?.onEnd();
  };
  const refuse = async (first: string, second: string | null) => {
    const { done } = rig.start(false);
    limit(first);
    await rig.pass(0);
    if (second !== null) limit(second);
    await done;
  };
  await refuse('20', '10');
  await rig.pass(10_000);
  // The first one has ten seconds left and is not asked again.
  await refuse('30', null);
  expect(rig.sent.map(({ call }) => call.channel.id)).toEqual(['c1', 'c2', 'c2']);
  expect(rig.reply.status).toBe(429);
  expect(rig.reply.headers.join()).toContain('retry-after,10');
});

describe('a last frame without its blank line', () => {
  test.each([
    ['', '\n\n'],
    ['\n', '\n'],
    ['\r\n', '\r\n'],
    ['\r', '\n\r\n'],
  ])('content that ends in %j, before the error', async (cut, added) => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.answer(true, words + words.trimEnd() + cut);
    await done;
    expect(rig.reply.ending).toBe('broken');
    expect(rig.reply.text).toContain(`${words}${words.trimEnd()}${cut}${added}data: {"error"`);
  });

  test('[DONE] is completed too', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.answer(true, wholeStream.trimEnd());
    await done;
    expect(rig.reply.ending).toBe('clean');
    expect(rig.reply.text).toMatch(/data: \[DONE\]\n\n$/);
  });
});

describe('a caller who leaves after the last report of usage', () => {
  const report = (output: number) =>
    `data: {"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":3,"completion_tokens":${output}}}\n\n`;

  test.each([
    ['older than the words, too few', report(1) + words, 5, 'estimated'],
    ['older than the words, but more than they can be', report(50) + words, 50, 'estimated'],
    ['with the last words', words + report(6), 6, 'upstream'],
  ])('%s', async (_, frames, output, usageSource) => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.answer(true, frames, 'more');
    rig.reply.listener?.onCallerGone();
    await done;
    expect(rig.settled).toMatchObject([
      { status: 'caller_gone', unbilledReason: null, usage: { inputFresh: 3, output }, usageSource },
    ]);
  });
});

describe('a bug', () => {
  const broken = (): never => {
    throw new Error('broken');
  };

  async function expectOneEntry(
    rig: Rig,
    done: Promise<unknown>,
    attempts: readonly object[],
  ): Promise<void> {
    await done;
    expect(rig.alerts).toEqual(['bug']);
    expect(rig.settled).toMatchObject([
      { status: 'failed', chargeNanoUsd: 0n, errorCode: 'internal', attempts },
    ]);
    expect(rig.observed).toEqual(rig.settled);
    expect(rig.reply.text).not.toContain('broken');
    // The guard of the call's open row is gone, and so are those of its attempts.
    rig.gateway.ledger.open = broken;
    await rig.pass(700_000);
  }

  test('in reading the request', async () => {
    const rig = new Rig({ protocol: { readRequest: broken } });
    await expectOneEntry(rig, rig.start(false).done, []);
    expect(rig.reply).toMatchObject({ status: 500, ending: 'clean' });
  });

  test('in planning', async () => {
    const rig = new Rig({
      parts: {
        router: { isForeign: broken, route: broken, hedge: broken, attempt: broken, hasRoom: () => true },
      },
    });
    await expectOneEntry(rig, rig.start(false).done, []);
  });

  test('in sending', async () => {
    const rig = new Rig({
      channels: 2,
      parts: { wires: new Wires(protocols, { line: () => ({ send: broken }) }) },
    });
    await expectOneEntry(rig, rig.start(false).done, [{ result: 'cut_before_content' }]);
  });

  test('in reading the head of an answer', async () => {
    const rig = new Rig({ protocol: { openStream: broken } });
    const { done } = rig.start(true);
    rig.answer(true, words);
    await expectOneEntry(rig, done, [{ result: 'cut_before_content' }]);
  });

  test('in reading a whole answer', async () => {
    const rig = new Rig({ protocol: { readAnswer: broken } });
    const { done } = rig.start(false);
    rig.answer(false, wholeAnswer);
    await expectOneEntry(rig, done, [{ result: 'cut_before_content' }]);
  });

  test('in relaying a stream', async () => {
    const rig = new Rig();
    rig.reply.begin = (status) => {
      rig.reply.status = status;
      return broken();
    };
    const { done } = rig.start(true);
    rig.answer(true, words);
    await expectOneEntry(rig, done, [{ result: 'cut_after_content' }]);
    expect(rig.reply.ending).toBe('broken');
  });

  test('in counting tokens', async () => {
    const encodeTokenCount = () => new Uint8Array(0);
    const rig = new Rig({ protocol: { encodeTokenCount }, parts: { tokens: { count: broken } } });
    const { done } = rig.start(false, 'count');
    rig.sent[0]?.handler.onHead({ status: 404, headers: new Map() });
    rig.sent[0]?.handler.onEnd();
    await expectOneEntry(rig, done, [{ result: 'refused' }]);
    expect(rig.reply).toMatchObject({ status: 500, ending: 'clean' });
  });

  test('in learning from an attempt', async () => {
    const { router } = new Rig().gateway;
    const route = router.route.bind(router);
    const routed = {
      credential: null,
      firstContentMs: 1e9,
      waitedInVainMs: () => 0,
      hedgeAfterMs: 1e9,
      noteHead: () => {},
      noteFirstContent: () => {},
      noteEnd: broken,
      hasReasoned: false,
      tokensIn: () => 0,
    };
    const rig = new Rig({
      parts: {
        router: {
          isForeign: () => false,
          route: route,
          hedge: () => null,
          attempt: () => routed,
          hasRoom: () => true,
        },
      },
    });
    const { done } = rig.start(true);
    rig.answer(true, wholeStream);
    await expectOneEntry(rig, done, [{ result: 'answered' }]);
    expect(rig.reply).toMatchObject({ status: 200, ending: 'broken' });
  });
});

describe('a stream that is translated', () => {
  const speaks = { messages: '/messages' };
  const event = (type: string, more: object = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const start = event('message_start', {
    message: { id: 'm', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } },
  });
  const opened = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  const said = (text: string) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  const cut = {
    status: 'failed',
    unbilledReason: 'cut_after_content',
    chargeNanoUsd: 0n,
    attempts: [{ lane: 'translate', result: 'cut_after_content' }],
  };

  test.each([true, false])('bears nothing of the head it came with: %s', async (stream) => {
    const rig = new Rig({ speaks });
    const { done } = rig.start(stream);
    const type = stream ? 'text/event-stream' : 'application/json';
    const handler = rig.sent[0]?.handler;
    handler?.onHead({ status: 200, headers: new Map([['content-type', `${type}; channel=c1`]]) });
    const whole = { type: 'message', id: 'm', model: 'm', content: [{ type: 'text', text: 'One' }] };
    const last = event('message_delta', { delta: { stop_reason: 'end_turn' } }) + event('message_stop');
    const answer = stream
      ? start + opened + said('One') + last
      : JSON.stringify({ ...whole, stop_reason: 'end_turn' });
    handler?.onData(Buffer.from(answer));
    handler?.onEnd();
    await done;
    expect(rig.reply.text).toContain('One');
    expect(rig.reply.headers[1]).toBe(stream ? 'text/event-stream; charset=utf-8' : 'application/json');
  });

  test('is broken off before it takes more memory than an answer may', async () => {
    const rig = new Rig({ speaks, limits: { answerBytesMax: 2_000 } });
    const { done } = rig.start(true);
    rig.answer(true, start + opened + said('One'), 'more');
    for (let n = 0; n < 40; n++) rig.sent[0]?.handler.onData(Buffer.from(said('more')));
    await done;
    expect(rig.reply.text).toContain('One');
    expect(rig.reply.text).not.toMatch(/\[DONE\]|"finish_reason":"/);
    expect(rig.reply.ending).toBe('broken');
    expect(rig.settled).toMatchObject([cut]);
    expect(rig.alerts).toEqual([]);
  });

  test.each(['reader', 'writer'] as const)('is broken off at a bug of its %s', async (part) => {
    const { messages } = protocols;
    if (messages === undefined) throw new Error('messages is not spoken');
    const chat = chatCompletions();
    const fail = (text: string): void => {
      if (text.includes('boom')) throw new Error('a bug');
    };
    const upstream = failing(messages, part === 'reader' ? fail : null, null);
    const caller = failing(chat, null, part === 'writer' ? fail : null);
    const rig = new Rig({
      speaks,
      protocol: caller,
      parts: { protocols: { ...protocols, messages: upstream } },
    });
    const { done } = rig.start(true);
    rig.answer(true, start + opened + said('One'), 'more');
    rig.sent[0]?.handler.onData(Buffer.from(said('boom')));
    await done;
    expect(rig.reply.text).toContain('One');
    expect(rig.reply.text).toContain('"code":"internal"');
    expect(rig.reply.text).not.toMatch(/\[DONE\]|"finish_reason":"|boom/);
    expect(rig.reply.ending).toBe('broken');
    expect(rig.settled).toMatchObject([cut]);
    expect(rig.alerts).toEqual(['bug']);
  });

  /** The protocol with a codec that looks at what it reads and writes in streams. */
  function failing(
    protocol: Protocol,
    onRead: ((text: string) => void) | null,
    onWrite: ((text: string) => void) | null,
  ): Protocol {
    const { codec } = protocol;
    if (codec === null) throw new Error('not translated');
    const looking: Codec = {
      ...codec,
      openReader(context) {
        const reader = codec.openReader(context);
        return {
          read(frame) {
            onRead?.(Buffer.from(frame).toString());
            return reader.read(frame);
          },
          end: () => reader.end(),
        };
      },
      openWriter(context) {
        const writer = codec.openWriter(context);
        return {
          write(turnEvent) {
            onWrite?.(JSON.stringify(turnEvent));
            return writer.write(turnEvent);
          },
          end: () => writer.end(),
        };
      },
    };
    return { ...protocol, codec: looking };
  }
});
