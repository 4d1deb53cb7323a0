import { faultNames, type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callOnce,
  errorAfterContent,
  errorIn,
  expectUncharged,
  type Mode,
  type ObservedCall,
  promptTokens,
  textOf,
} from './support/faulty-calls.ts';
import { channelEach, openTestGateway, type TestGateway } from './support/gateway.ts';

/**
 * What a caller sees of each fault when no other channel is there, and what its attempt is recorded as. `200` before a
 * code: the answer had begun, and the code comes in-band. The rows are routing.md's table "Fallback".
 */
const jsonByFault: Readonly<Record<string, string>> = {
  400: '400 invalid_value refused',
  401: '502 upstream_error refused',
  402: '502 upstream_error refused',
  403: '502 upstream_error refused',
  404: '404 model_not_found refused',
  405: '404 model_not_found refused',
  408: '502 upstream_error refused',
  409: '502 upstream_error refused',
  413: '413 request_too_large refused',
  422: '422 upstream_invalid_request refused',
  425: '502 upstream_error refused',
  429: '429 upstream_rate_limited refused',
  500: '502 upstream_error refused',
  502: '502 upstream_error refused',
  503: '502 upstream_error refused',
  504: '502 upstream_error refused',
  529: '502 upstream_error refused',
  '400,code=context_length_exceeded': '400 context_length_exceeded refused',
  '400,code=content_policy_violation': '400 content_policy_violation refused',
  '400,message=Your%20credit%20balance%20is%20too%20low.': '502 upstream_error refused',
  '400,code=model_not_found': '404 model_not_found refused',
  '429,code=insufficient_quota': '502 upstream_error refused',
  html: '502 upstream_error refused',
  'html-403': '502 upstream_error refused',
  empty: '502 upstream_error refused',
  'reset-before-head': '502 upstream_error unreachable',
  'reset-before-content': '502 upstream_error cut_before_content',
  'reset-mid-stream': '502 upstream_error cut_before_content',
  'reset-before-done': '502 upstream_error cut_before_content',
  'stall-before-head': '504 upstream_timeout timed_out',
  'stall-before-content': '504 upstream_timeout timed_out',
  'stall-mid-stream': '504 upstream_timeout timed_out',
  'stall-before-done': '504 upstream_timeout timed_out',
  'end-before-head': '502 upstream_error unreachable',
  'end-before-content': '502 upstream_error refused',
  'end-mid-stream': '502 upstream_error refused',
  'end-before-done': '502 upstream_error refused',
  'cut-before-head': '502 upstream_error unreachable',
  'cut-before-content': '502 upstream_error cut_before_content',
  'cut-mid-stream': '502 upstream_error cut_before_content',
  'cut-before-done': '502 upstream_error cut_before_content',
  'garble-before-head': '502 upstream_error cut_before_content',
  'garble-before-content': '502 upstream_error refused',
  'garble-mid-stream': '502 upstream_error refused',
  'garble-before-done': '502 upstream_error refused',
  'error-before-content': '502 upstream_error refused',
  'error-mid-stream': '502 upstream_error refused',
  'error-before-done': '502 upstream_error refused',
};

/** Where a stream differs from a whole answer. */
const streamsByFault: Readonly<Record<string, string>> = {
  ...jsonByFault,
  empty: '502 upstream_error cut_before_content',
  'end-before-content': '502 upstream_error cut_before_content',
  'reset-mid-stream': '200 upstream_error cut_after_content',
  'reset-before-done': '200 upstream_error cut_after_content',
  'stall-mid-stream': '200 upstream_timeout timed_out',
  'stall-before-done': '200 upstream_timeout timed_out',
  'end-mid-stream': '200 upstream_error cut_after_content',
  'end-before-done': '200 upstream_error cut_after_content',
  'cut-mid-stream': '200 upstream_error cut_after_content',
  'cut-before-done': '200 upstream_error cut_after_content',
  'garble-mid-stream': '200 upstream_error cut_after_content',
  'garble-before-done': '200 upstream_error cut_after_content',
  'error-mid-stream': '200 upstream_error cut_after_content',
  'error-before-done': '200 upstream_error cut_after_content',
};

const cases = [
  ...Object.entries(jsonByFault).map(([fault, seen]) => row('json', fault, seen)),
  ...Object.entries(streamsByFault).map(([fault, seen]) => row('stream', fault, seen)),
];

function row(mode: Mode, fault: string, seen: string) {
  const [status = '', code = '', result = ''] = seen.split(' ');
  return { mode, fault, status: Number(status), code, result };
}

type Row = (typeof cases)[number];
type Company = 'alone' | 'rescued';

const healthy = { upstream: 'well+tokens=7', tokens: 7, text: 'This is a simulated answer; no real' };

/** Every test has a model and a failing channel of its own. */
function modelOf({ mode, fault }: Row, company: Company): string {
  const name = fault.toLowerCase().replace(/[^\w-]+/g, '.');
  return `${mode}.${name.slice(0, 40)}.${company}`;
}

function models(company: Company, upstream: (row: Row) => string): Record<string, string> {
  return Object.fromEntries(cases.map((row) => [modelOf(row, company), upstream(row)]));
}

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const failing = ({ fault }: Row) => `sim+tokens=6,fault=${fault}`;
  gateway = await openTestGateway({
    channels: [
      ...channelEach(origin, { ...models('alone', failing), ...models('rescued', failing) }),
      { id: 'good', origin, models: models('rescued', () => healthy.upstream) },
    ],
    flags: { 'first-content-timeout': '1s', 'stall-timeout': '1s', 'whole-answer-timeout': '1s' },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

test('every fault the simulator has is among the cases', () => {
  expect(faultNames.filter((fault) => !(fault in jsonByFault))).toEqual(['wrong-type']);
});

describe.concurrent('alone', () => {
  test.for(cases)('$mode $fault is $status $code', async (row) => {
    const model = modelOf(row, 'alone');
    const call = await callOnce(gateway, model, row.mode);
    const isBegun = row.status === 200;
    const error = isBegun ? errorAfterContent(call) : errorBeforeContent(call, row);
    expect(error).toMatchObject({ code: row.code, trace_id: call.entry.traceId });
    expectUncharged(call, { ...endingOf(row), httpStatus: row.status, channelId: model });
    const { attempts } = call.entry;
    expect(call.answer.headers.get('x-headgate-attempts')).toBe(String(attempts.length));
    for (const attempt of attempts) expect(attempt).toMatchObject({ channelId: model, result: row.result });
    expect(attempts.length > 1).toBe(isRepeated(row));
  });
});

/** Where it is not in the credential or the model, and was not silence for all the time a channel has. */
function isRepeated(row: Row): boolean {
  return isRescued(row) && row.result !== 'timed_out' && !/^40[0-5]|insufficient_quota/.test(row.fault);
}

function errorBeforeContent({ answer }: ObservedCall, { status }: Row) {
  expect(answer).toMatchObject({ status, isWhole: true });
  expect(answer.headers.get('content-type')).toBe('application/json');
  return errorIn(answer.body.toString());
}

const callersOwnFaults = /^(400|413|422) (?!upstream_error)/;

/** How the ledger tells such an end (ledger.md, "One entry per call"). */
function endingOf({ status, code, result }: Row) {
  if (status === 200) return { status: 'failed', unbilledReason: 'cut_after_content' } as const;
  if (result === 'timed_out') return { status: 'timed_out', unbilledReason: 'timed_out' } as const;
  const isCallers = callersOwnFaults.test(`${status} ${code}`);
  return { status: 'failed', unbilledReason: isCallers ? 'refused_by_upstream' : 'upstream_failed' } as const;
}

describe.concurrent('with a healthy channel behind it', () => {
  test.for(cases.filter(isRescued))('$mode $fault is rescued', async (row) => {
    const model = modelOf(row, 'rescued');
    const { answer, entry } = await callOnce(gateway, model, row.mode);
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(textOf(answer, row.mode)).toBe(healthy.text);
    expect(answer.body.toString().endsWith('data: [DONE]\n\n')).toBe(row.mode === 'stream');
    expect(answer.headers.get('x-headgate-attempts')).toBe('2');
    expect(entry).toMatchObject({
      status: 'complete',
      unbilledReason: null,
      channelId: 'good',
      usageSource: 'upstream',
    });
    expect(entry.attempts.map(({ channelId, result }) => [channelId, result])).toEqual([
      [model, row.result],
      ['good', 'answered'],
    ]);
    // 1 and 2 USD per million tokens are 1,000 and 2,000 nano-dollars a token.
    expect(entry.chargeNanoUsd).toBe(BigInt(promptTokens * 1000 + healthy.tokens * 2000));
  });

  test.for(cases.filter((row) => !isRescued(row)))('$mode $fault is not tried elsewhere', async (row) => {
    const model = modelOf(row, 'rescued');
    const call = await callOnce(gateway, model, row.mode);
    const error = row.status === 200 ? errorAfterContent(call) : errorBeforeContent(call, row);
    expect(error.code).toBe(row.code);
    expect(call.answer.headers.get('x-headgate-attempts')).toBe('1');
    expectUncharged(call, endingOf(row));
    expect(call.entry.attempts).toMatchObject([{ channelId: model, result: row.result }]);
  });
});

/** Everything before content, but for what is the caller's own fault. */
function isRescued({ status, code }: Row): boolean {
  return status !== 200 && !callersOwnFaults.test(`${status} ${code}`);
}
