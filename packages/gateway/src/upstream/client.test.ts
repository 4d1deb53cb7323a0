import { expect, test } from 'vitest';
import { HttpClient } from './client.ts';
import { describeUpstreamClient } from './contract/describe-upstream-client.ts';
import { outcomeOf, requestTo } from './contract/recorded-answer.ts';
import { answerAlways, okAnswer } from './contract/scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './contract/workbench.ts';
import { idleLifetimeMs } from './pool.ts';

const open: OpenClient = (options) => new HttpClient(options);

describeUpstreamClient('our own client', open);

const workbench = setUpWorkbench(open);

test('a request beyond the connections allowed fails at once', async () => {
  const upstream = await workbench.upstream(() => {});
  const client = workbench.client({ maxConnections: 2 });
  const held = [1, 2].map(() => outcomeOf(client, requestTo(upstream.origin)));
  const third = await outcomeOf(client, requestTo(upstream.origin));
  expect(third.failure).toMatchObject({ kind: 'unreachable' });
  await client.close();
  for (const { failure } of await Promise.all(held)) expect(failure?.kind).toBe('aborted');
});

test('a retry fits where its dead connection was', async () => {
  const upstream = await workbench.upstream(async (connection) => {
    await connection.answer(okAnswer);
    await connection.request();
    connection.reset();
  });
  const client = workbench.client({ maxConnections: 1 });
  await outcomeOf(client, requestTo(upstream.origin));
  expect(await outcomeOf(client, requestTo(upstream.origin))).toMatchObject({ body: 'ok', failure: null });
  expect(upstream.connections).toHaveLength(2);
});

test('a connection is free for the next request within the end of the one before', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer));
  const client = workbench.client();
  for (let round = 0; round < 20; round += 1) await outcomeOf(client, requestTo(upstream.origin));
  expect(upstream.connections).toHaveLength(1);
});

test('what an upstream says unasked on an idle connection ends the connection', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer));
  const client = workbench.client();
  await outcomeOf(client, requestTo(upstream.origin));
  upstream.connections[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison');
  await upstream.connections[0]?.closed();
  expect((await outcomeOf(client, requestTo(upstream.origin))).body).toBe('ok');
  expect(upstream.connections).toHaveLength(2);
});

test('an interim 100 is passed over', async () => {
  const upstream = await workbench.upstream(answerAlways(`HTTP/1.1 100 Continue\r\n\r\n${okAnswer}`));
  expect((await outcomeOf(workbench.client(), requestTo(upstream.origin))).body).toBe('ok');
});

test('the connection used last is used next', async () => {
  const upstream = await workbench.upstream(answerAlways(okAnswer));
  const client = workbench.client();
  await Promise.all([1, 2, 3].map(() => outcomeOf(client, requestTo(upstream.origin))));
  const before = upstream.connections.map(({ socket }) => socket.bytesRead);
  for (let round = 0; round < 3; round += 1) await outcomeOf(client, requestTo(upstream.origin));
  const used = upstream.connections.filter(({ socket }, index) => socket.bytesRead !== before[index]);
  expect(used).toHaveLength(1);
});

test.each([
  [null, 4000],
  ['timeout=5', 4000],
  ['timeout=3', 2000],
  ['timeout=1', 0],
  ['timeout=0', -1000],
])('with the hint %s a connection waits %i ms at the most', (hint, lifetimeMs) => {
  expect(idleLifetimeMs(hint, 4000)).toBe(lifetimeMs);
});
