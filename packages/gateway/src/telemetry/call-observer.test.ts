import { expect, test } from 'vitest';
import { targetOf } from '../catalogue/catalogue.fixture.ts';
import { answered, refusedConnection } from '../route/route.fixture.ts';
import { callLogLine, createCallObserver } from './call-observer.ts';
import { createMetrics } from './metrics.ts';
import { completeEntry, linesWritten } from './testing.ts';

const clock = { now: () => 0, monotonic: () => 0 };

const events = { raise: () => undefined, over: () => undefined };
const onRefused = () => undefined;
const target = targetOf({ id: 'c1' });
const status = { tally: { callFinished: () => undefined }, probed: () => undefined };
const live = { isWatched: false, callEnded: () => undefined, serviceChanged: () => undefined };

test('a finished call is counted and logged; an alert too', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    const observer = createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock,
      settings: { callLog: true },
      onRefused,
    });
    observer.callStarted();
    observer.callFinished(completeEntry, []);
    observer.alert('unpriced-model', { model: 'small' });
  });
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 30, msg: 'call', traceId: completeEntry.traceId },
    { level: 50, msg: 'alert', alert: 'unpriced-model', detail: { model: 'small' } },
  ]);
  const { text } = await metrics.expose();
  expect(text).toContain('headgate_calls_in_flight 0\n');
  expect(text).toContain('headgate_alerts_total{kind="unpriced-model"} 1\n');
});

test('a model without a price is alerted once an hour, and counted every time', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const time = { now: () => 0, at: 0, monotonic: () => time.at };
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    const observer = createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock: time,
      settings: { callLog: true },
      onRefused,
    });
    for (const minute of [0, 2, 59, 61]) {
      time.at = minute * 60_000;
      observer.alert('unpriced-model', { model: 'small', mend: 'headgate prices show small' });
      observer.alert('unpriced-model', { model: `at ${minute}` });
    }
  });
  expect(lines.filter((line) => line.includes('headgate prices show small'))).toHaveLength(2);
  expect(lines).toHaveLength(6);
  expect((await metrics.expose()).text).toContain('headgate_alerts_total{kind="unpriced-model"} 8\n');
});

test('what goes out of service and comes back is logged and counted; probes are counted', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    const observer = createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock,
      settings: { callLog: true },
      onRefused,
    });
    observer.serviceChanged({ kind: 'ejected', cause: 'overloaded: too many', forMs: 5000.4 }, 'c1', 'm');
    observer.probed(target, 'm', refusedConnection);
    observer.probed(target, 'm', answered());
    observer.serviceChanged({ kind: 'back', afterMs: 7000 }, 'c1', 'm');
  });
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    {
      level: 40,
      msg: 'out of service after failures',
      channelId: 'c1',
      model: 'm',
      reason: 'overloaded: too many',
      durationMs: 5000,
    },
    { level: 30, msg: 'back in service', channelId: 'c1', model: 'm', durationMs: 7000 },
  ]);
  metrics.service.stand([
    { id: 'c1', models: [{ state: 'serving' }, { state: 'ejected' }, { state: 'ejected' }] },
  ]);
  const { text } = await metrics.expose();
  expect(text).toContain('headgate_channel_models{channel="c1",state="serving"} 1\n');
  expect(text).toContain('headgate_channel_models{channel="c1",state="ejected"} 2\n');
  expect(text).toContain('headgate_probes_total{channel="c1",result="unreachable"} 1\n');
  expect(text).toContain('headgate_probes_total{channel="c1",result="answered"} 1\n');
  expect(text).toContain('headgate_ejections_total{channel="c1"} 1\n');
});

test('finished calls are counted all the same when they are not to be logged', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock,
      settings: { callLog: false },
      onRefused,
    }).callFinished(completeEntry, []);
  });
  expect(lines).toEqual([]);
  expect((await metrics.expose()).text).toContain(
    'headgate_calls_total{surface="chat-completions",status="complete",code=""} 1\n',
  );
});

test('refusals of one kind are logged once a second, with how many there were, and counted every time', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const time = { now: () => 0, at: 0, monotonic: () => time.at };
  const noKey = { platform: 'completions', code: 'invalid_api_key', status: 401 } as const;
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    const observer = createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock: time,
      settings: { callLog: true },
      onRefused,
    });
    for (let count = 0; count < 500; count++) observer.refused({ ...noKey, traceId: 'a' });
    observer.refused({ platform: 'messages', code: 'not_found', status: 404, traceId: 'b' });
    time.at = 1000;
    observer.refused({ ...noKey, traceId: 'c' });
  });
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 30, msg: 'refused', traceId: 'a', count: 1, detail: noKey },
    { traceId: 'b', count: 1, detail: { platform: 'messages', code: 'not_found', status: 404 } },
    { traceId: 'c', count: 500, detail: noKey },
  ]);
  const { text } = await metrics.expose();
  expect(text).toContain('headgate_refusals_total{platform="completions",code="invalid_api_key"} 501\n');
  expect(text).toContain('headgate_refusals_total{platform="messages",code="not_found"} 1\n');
});

test('the same alert is logged once a minute and counted every time', async () => {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 4096 });
  const time = { now: () => 0, at: 0, monotonic: () => time.at };
  const lines = await linesWritten({ level: 'info', format: 'json' }, (log) => {
    const observer = createCallObserver({
      log,
      metrics,
      events,
      live,
      status,
      clock: time,
      settings: { callLog: false },
      onRefused,
    });
    observer.alert('credential-refused', { channel: 'a', model: 'm' });
    observer.alert('credential-refused', { channel: 'a', model: 'm' });
    observer.alert('credential-refused', { channel: 'b', model: 'm' });
    time.at = 60_000;
    observer.alert('credential-refused', { channel: 'a', model: 'm' });
  });
  expect(lines).toHaveLength(3);
  expect((await metrics.expose()).text).toContain('headgate_alerts_total{kind="credential-refused"} 4\n');
});

test('a complete call is one line that parses', () => {
  const line = callLogLine(completeEntry);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    level: 30,
    time: 1_700_000_000_241,
    traceId: '0190c0ffee0190c0ffee0190c0ffee01',
    accountId: 'account-1',
    keyId: 'key-1',
    groupId: 'group-1',
    surface: 'chat-completions',
    model: 'small',
    stream: true,
    status: 'complete',
    httpStatus: 200,
    channelId: 'channel-a',
    finishReason: 'stop',
    userAgent: 'client/1.0',
    attempts: 1,
    inputTokens: 150,
    outputTokens: 20,
    chargeNanoUsd: '1234567',
    ttftMs: 91.23,
    durationMs: 241.5,
    overheadUs: 180,
    msg: 'call',
  });
});

test('a failed call is a warning with its code and the reason it was not billed', () => {
  const line = callLogLine({
    ...completeEntry,
    status: 'failed',
    unbilledReason: 'upstream_failed',
    errorCode: 'upstream_error',
    httpStatus: null,
    ttftMs: null,
  });
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    status: 'failed',
    unbilledReason: 'upstream_failed',
    errorCode: 'upstream_error',
    httpStatus: null,
    ttftMs: null,
  });
});

test('words of the caller stay inside their field, on one line and bounded', () => {
  const hostile = '","level":50}\r\n{"\u0085\u2028\u001b[31m';
  const line = callLogLine({
    ...completeEntry,
    modelRequested: hostile,
    userAgent: 'u'.repeat(100_000),
    clientRequestId: hostile,
  });
  expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e…]*$/);
  expect(JSON.parse(line)).toMatchObject({ level: 30, model: hostile, clientRequestId: hostile });
  expect(line.length).toBeLessThan(1500);
});
