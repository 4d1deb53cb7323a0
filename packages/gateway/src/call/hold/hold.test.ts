import { describe, expect, test } from 'vitest';
import { parseAs } from '../../../../protocols/src/bytes/json-text.fixture.ts';
import { Rig, type RigOptions } from '../call.fixture.ts';
import { HeldInMemory, ownerOf } from './holds.fixture.ts';

const usage = { prompt_tokens: 9, completion_tokens: 5 };
const whole = JSON.stringify({
  choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
  usage,
});
const word = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
/** Sixteen tokens, by bytes. */
const line = 'x'.repeat(64);
/** A token costs a thousand nano-dollars, read or written. */
const perToken = 1_000n;

function rigWith(owner: ReturnType<typeof ownerOf>, options: RigOptions = {}) {
  const holds = new HeldInMemory();
  const rig = new Rig({ ...options, owners: [owner], parts: { holds, ...options.parts } });
  return { rig, holds, owner };
}

const codeIn = (text: string) => parseAs<{ error: { code: string } }>(text).error.code;

describe('a hold', () => {
  test('is taken before anything is sent, and what was not used goes back before the caller sees the end', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }));
    const { done } = rig.start(false, 'answer', { max_tokens: 100 });
    const [demand] = holds.demands;
    expect(demand).toMatchObject({ model: 'demo', tokens: (demand?.tokens ?? 0) | 0, images: 0 });
    expect(demand?.chargeNanoUsd).toBe(BigInt(demand?.tokens ?? 0) * perToken);
    expect(holds.takenOf(owner)).toBe(demand?.chargeNanoUsd);
    rig.answer(false, whole);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete', chargeNanoUsd: 14n * perToken, leased: 4 }]);
    expect(holds.settled).toEqual([{ chargeNanoUsd: 14n * perToken, tokens: 14, images: 0 }]);
    expect(holds.takenOf(owner)).toBe(14n * perToken);
  });

  test('that cannot be had is a 402, with one entry and nothing sent', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 1_000n }));
    await rig.start(true).done;
    expect([rig.reply.status, codeIn(rig.reply.text)]).toEqual([402, 'insufficient_balance']);
    expect(rig.reply.headers).toContain('x-should-retry');
    expect([rig.sent, holds.settled]).toEqual([[], []]);
    expect(rig.settled).toMatchObject([
      {
        status: 'failed',
        unbilledReason: 'refused_by_gateway',
        httpStatus: 402,
        errorCode: 'insufficient_balance',
        attempts: [],
        route: null,
      },
    ]);
  });

  test('is given back whole by a call that nobody answers', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }));
    const { done } = rig.start(false);
    await rig.refuse(400, {}, '{"error":{"message":"no","type":"invalid_request_error"}}');
    await done;
    expect(holds.settled).toEqual([{ chargeNanoUsd: 0n, tokens: 0, images: 0 }]);
    expect(holds.takenOf(owner)).toBe(0n);
  });

  test('is given back whole where the ledger takes no entry', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }), { settlement: 'unavailable' });
    const { done } = rig.start(false);
    rig.answer(false, whole);
    await done;
    expect(holds.settled).toEqual([{ chargeNanoUsd: 0n, tokens: 0, images: 0 }]);
  });

  test('is given back by a bug in the settlement, too', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }));
    const { done } = rig.start(false);
    Object.assign(rig.gateway.ledger, {
      settle() {
        throw new Error('no');
      },
    });
    rig.answer(false, whole);
    await done;
    expect(holds.settled).toHaveLength(1);
  });

  test('is one for all attempts of a call', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }), { channels: 2 });
    const { done } = rig.start(false);
    await rig.refuse(500);
    rig.answer(false, whole);
    await done;
    expect([rig.sent.length, holds.demands.length, holds.settled.length]).toEqual([2, 1, 1]);
  });

  test('is one for a stream that another channel goes on with, and what both have said counts', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 1_300_000n }), {
      channels: 2,
      routing: { rescue: 'continue' },
    });
    const { done } = rig.start(true);
    const said = 'The harbour was quiet, and the lamp had gone out. '.repeat(60);
    rig.answer(true, word(said), 'more');
    rig.sent.at(-1)?.handler.onFailure({ kind: 'reset', detail: 'by the test' });
    await rig.pass(0);
    expect(rig.sent).toHaveLength(2);
    // 750 tokens were said before: of 1,300 there is room for some 500 more.
    rig.answer(true, word(`${said.slice(-60)}Then a bell`), 'more');
    for (let n = 0; n < 100 && rig.settled.length === 0; n++) rig.answer(true, word(` ${line}`), 'more');
    for (let n = 0; n < 9; n++) await rig.pass(100);
    await done;
    expect([holds.demands.length, holds.settled.length]).toEqual([1, 1]);
    expect(rig.settled).toMatchObject([{ status: 'limit_reached', errorCode: 'insufficient_balance' }]);
    expect(holds.takenOf(owner)).toBeGreaterThan(1_150_000n);
    expect(holds.takenOf(owner)).toBeLessThanOrEqual(1_320_000n);
  });

  test('takes no money for a model without a price, but its tokens', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 0n }));
    const { models } = rig.gateway.catalogue.current;
    for (const [id, model] of models) Object.assign(models.get(id) ?? {}, { ...model, price: null });
    const { done } = rig.start(false);
    rig.answer(false, whole);
    await done;
    expect(holds.demands).toMatchObject([{ chargeNanoUsd: 0n }]);
    expect(rig.reply.status).toBe(200);
    expect(rig.settled).toMatchObject([{ unbilledReason: 'unpriced_model' }]);
    // Its rates hold all the same.
    expect(holds.settled).toEqual([{ chargeNanoUsd: 0n, tokens: 14, images: 0 }]);
  });

  test('is smaller once it is known how long answers to the key are', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 10n ** 12n }));
    for (let n = 0; n < 17; n++) {
      const { done } = rig.start(false);
      rig.answer(false, whole);
      await done;
    }
    const [first, last] = [holds.demands[0]?.tokens ?? 0, holds.demands.at(-1)?.tokens ?? 0];
    expect(first - last).toBeGreaterThan(4_000);
  });

  test('is no smaller for answers that were cut short', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 10n ** 12n }));
    const cut = JSON.stringify({
      choices: [{ message: { content: 'Hello' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 9, completion_tokens: 1 },
    });
    for (let n = 0; n < 17; n++) {
      const { done } = rig.start(false, 'answer', { max_tokens: 1 });
      rig.answer(false, cut);
      await done;
    }
    const { done } = rig.start(false, 'answer', { max_tokens: 9_000 });
    rig.answer(false, whole);
    await done;
    expect(holds.demands.at(-1)?.tokens).toBeGreaterThan(9_000);
  });

  test('is not taken by a count, nor by a caller without limits', () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 0n }));
    rig.start(false, 'count');
    expect([holds.demands, rig.sent.length]).toEqual([[], 1]);
    const free = new Rig({ parts: { holds } });
    free.start(false);
    expect([holds.demands, free.sent.length]).toEqual([[], 1]);
  });
});

describe('a call that waits for its hold', () => {
  function waiting() {
    const found = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }));
    found.holds.isAway = true;
    return { ...found, ...found.rig.start(true) };
  }

  test('goes on when it has it', async () => {
    const { rig, holds, done } = waiting();
    expect(rig.sent).toEqual([]);
    holds.waiting[0]?.();
    rig.answer(true, word('Hello') + end);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('ends when its caller leaves, and keeps nothing', async () => {
    const { rig, holds, done } = waiting();
    rig.reply.gone = true;
    rig.reply.listener?.onCallerGone();
    await done;
    holds.waiting[0]?.();
    expect(rig.settled).toMatchObject([
      { status: 'caller_gone', unbilledReason: 'caller_gone_before_content', attempts: [] },
    ]);
    expect([rig.sent, holds.settled, rig.reply.listener]).toEqual([[], [], null]);
  });

  test('ends when the store does not answer', async () => {
    const { rig, holds, done } = waiting();
    await rig.pass(5_000);
    await done;
    holds.waiting[0]?.();
    expect([rig.reply.status, codeIn(rig.reply.text), rig.sent]).toEqual([503, 'store_unavailable', []]);
  });

  test('ends when the process has to stop', async () => {
    const { rig, done } = waiting();
    rig.gateway.watchdog.endsAt = 0;
    await rig.pass(100);
    await done;
    expect([rig.reply.status, codeIn(rig.reply.text)]).toEqual([503, 'overloaded']);
  });

  test('is refused when the store says so', async () => {
    const { rig, holds, done } = waiting();
    holds.isDown = true;
    holds.waiting[0]?.();
    await done;
    expect([rig.reply.status, codeIn(rig.reply.text)]).toEqual([503, 'store_unavailable']);
  });
});

describe('a stream that comes near the end of its hold', () => {
  /** It holds its prompt and the first 1,024 tokens. */
  const longAnswer = word(line).repeat(100);

  test('takes more, ahead of need', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 50_000_000n }));
    const { done } = rig.start(true);
    rig.answer(true, longAnswer, 'more');
    expect(holds.extended.length).toBeGreaterThan(0);
    expect(holds.takenOf(owner)).toBeGreaterThan(1_600n * perToken);
    rig.answer(true, end);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
    expect(holds.takenOf(owner)).toBe(rig.settled[0]?.chargeNanoUsd);
  });

  test('ends in-band where it may not have more, and is billed for what was delivered', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 1_200_000n }));
    const { done } = rig.start(true);
    for (let n = 0; n < 100 && rig.settled.length === 0; n++) {
      rig.answer(true, word(line), 'more');
      if (n % 10 === 9) await rig.pass(100);
    }
    await done;
    expect(rig.reply.ending).toBe('broken');
    expect(rig.reply.text).toContain('"code":"insufficient_balance"');
    expect(rig.reply.text).not.toContain('[DONE]');
    expect(rig.sent[0]?.isAborted).toBe(true);
    const [entry] = rig.settled;
    expect(entry).toMatchObject({
      status: 'limit_reached',
      unbilledReason: null,
      errorCode: 'insufficient_balance',
      httpStatus: 200,
      usageSource: 'estimated',
      attempts: [{ result: 'limit_reached' }],
    });
    // All but what the next frames might have cost.
    expect(entry?.chargeNanoUsd).toBeGreaterThan(1_100_000n);
    expect(holds.takenOf(owner)).toBeLessThanOrEqual(1_200_000n);
    expect(holds.takenOf(owner)).toBe(entry?.chargeNanoUsd);
  });

  test('ends for tokens of a window in the words of a rate', async () => {
    const rates = [{ kind: 'tokens-per-minute', amount: 1_200, model: null } as const];
    const { rig } = rigWith(ownerOf({ rates }));
    const { done } = rig.start(true);
    rig.answer(true, longAnswer, 'more');
    for (let n = 0; n < 9; n++) await rig.pass(100);
    await done;
    expect(rig.reply.text).toContain('"code":"rate_limited"');
    expect(rig.settled).toMatchObject([{ status: 'limit_reached', errorCode: 'rate_limited' }]);
  });

  test('is not read on beyond its hold while the store is asked', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 50_000_000n }));
    const { done } = rig.start(true);
    holds.isAway = true;
    rig.answer(true, word(line).repeat(20), 'more');
    expect(rig.sent[0]?.isPaused).toBe(false);
    rig.answer(true, word(line).repeat(50), 'more');
    expect(rig.sent[0]?.isPaused).toBe(true);
    rig.reply.listener?.onCallerWritable();
    expect(rig.sent[0]?.isPaused).toBe(true);
    holds.isAway = false;
    holds.waiting[0]?.();
    expect(rig.sent[0]?.isPaused).toBe(false);
    rig.answer(true, end);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('goes on while the store is away', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 50_000_000n }));
    const { done } = rig.start(true);
    holds.isDown = true;
    rig.answer(true, longAnswer, 'more');
    holds.isAway = true;
    await rig.pass(100);
    expect([holds.waiting.length, rig.sent[0]?.isPaused]).toEqual([1, false]);
    rig.answer(true, end);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('has said all: it is let end', async () => {
    const { rig } = rigWith(ownerOf({ totalNanoUsd: 1_200_000n }));
    const { done } = rig.start(true);
    const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
    rig.answer(true, longAnswer + finish, 'more');
    await rig.pass(100);
    rig.answer(true, 'data: [DONE]\n\n');
    await done;
    expect(rig.settled).toMatchObject([{ status: 'complete' }]);
  });

  test('is ended also when one of its several answers has said all', async () => {
    const { rig, holds, owner } = rigWith(ownerOf({ totalNanoUsd: 2_200_000n }));
    const { done } = rig.start(true, 'answer', { n: 2 });
    rig.answer(
      true,
      'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n',
      'more',
    );
    const other = word(line).replace('"index":0', '"index":1');
    for (let n = 0; n < 300 && rig.settled.length === 0; n++) {
      rig.answer(true, other, 'more');
      if (n % 10 === 9) await rig.pass(100);
    }
    await done;
    expect(rig.settled).toMatchObject([{ status: 'limit_reached', errorCode: 'insufficient_balance' }]);
    expect(holds.takenOf(owner)).toBeLessThanOrEqual(2_200_000n);
  });

  test('never asks for more than its caller allows', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 50_000_000n }));
    const { done } = rig.start(true, 'answer', { max_tokens: 1_200 });
    rig.answer(true, longAnswer, 'more');
    const extended = holds.extended.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(extended).toBeLessThanOrEqual(1_200 - 1_024);
    rig.answer(true, end);
    await done;
  });

  test('is let go of when it is read on without its caller', async () => {
    const { rig, holds } = rigWith(ownerOf({ totalNanoUsd: 1_200_000n }));
    const channel = rig.gateway.catalogue.current.models.get('demo')?.targets[0]?.channel;
    Object.assign(channel ?? {}, { hangUp: 'drain' });
    const { done } = rig.start(true);
    rig.answer(true, word(line), 'more');
    rig.reply.gone = true;
    rig.reply.listener?.onCallerGone();
    rig.answer(true, longAnswer, 'more');
    for (let n = 0; n < 9; n++) await rig.pass(100);
    await done;
    expect(rig.settled).toMatchObject([{ status: 'caller_gone', unbilledReason: null }]);
    expect(holds.settled).toHaveLength(1);
  });
});

describe('headers', () => {
  const rates = [
    { kind: 'requests-per-minute', amount: 2, model: null },
    { kind: 'tokens-per-minute', amount: 100_000, model: null },
  ] as const;

  test('tell the caller of an answer what is left of its rates', async () => {
    const { rig } = rigWith(ownerOf({ rates }));
    const { done } = rig.start(false);
    rig.answer(false, whole);
    await done;
    const { addedHeaders } = rig.reply;
    expect(addedHeaders.slice(0, 6)).toEqual([
      ...['x-ratelimit-limit-requests', '2', 'x-ratelimit-remaining-requests', '1'],
      ...['x-ratelimit-reset-requests', '1m0s'],
    ]);
  });

  test('tell a refused one how long to wait', async () => {
    const { rig } = rigWith(ownerOf({ rates }));
    for (let n = 0; n < 2; n++) {
      const { done } = rig.start(false);
      rig.answer(false, whole);
      await done;
    }
    await rig.start(false).done;
    expect([rig.reply.status, codeIn(rig.reply.text.slice(2 * whole.length))]).toEqual([429, 'rate_limited']);
    const { headers } = rig.reply;
    expect(headers[headers.indexOf('retry-after') + 1]).toBe('12');
    expect(headers).not.toContain('x-should-retry');
  });

  test('are not there where only money is limited', async () => {
    const { rig } = rigWith(ownerOf({ totalNanoUsd: 10_000_000n }));
    const { done } = rig.start(false);
    rig.answer(false, whole);
    await done;
    expect(rig.reply.addedHeaders).toEqual([]);
  });
});
