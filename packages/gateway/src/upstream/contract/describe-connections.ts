import { expect, test } from 'vitest';
import type { UpstreamClient, UpstreamRequest } from '../../ports/upstream.ts';
import { outcomeOf, requestTo } from './recorded-answer.ts';
import { answerAlways, okAnswer, type Script } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

export function describeConnections(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  /** Sends a request and leaves its connection idle, ready for the next. */
  const useOnce = async (client: UpstreamClient, request: UpstreamRequest) => {
    const outcome = await outcomeOf(client, request);
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    return outcome;
  };

  test('requests one after the other share a connection', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const client = workbench.client();
    for (let round = 0; round < 5; round += 1) await useOnce(client, requestTo(upstream.origin));
    expect(upstream.connections).toHaveLength(1);
  });

  test('requests at the same time never share one', async () => {
    const waiting: (() => void)[] = [];
    const upstream = await workbench.upstream(async (connection) => {
      await connection.request();
      waiting.push(() => connection.write(okAnswer));
      if (waiting.length === 3) for (const answer of waiting) answer();
    });
    const client = workbench.client();
    const outcomes = await Promise.all([1, 2, 3].map(() => outcomeOf(client, requestTo(upstream.origin))));
    expect(outcomes.map(({ body }) => body)).toEqual(['ok', 'ok', 'ok']);
    expect(upstream.connections).toHaveLength(3);
  });

  test('channels share no connection', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const client = workbench.client();
    await outcomeOf(client, requestTo(upstream.origin, { channelId: 'one' }));
    await outcomeOf(client, requestTo(upstream.origin, { channelId: 'other' }));
    expect(upstream.connections).toHaveLength(2);
  });

  const notReusable: Record<string, string> = {
    'that announces its close': 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
    'of HTTP/1.0': 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'with bytes after the end': `${okAnswer}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`,
    'that no longer waits': 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
  };

  test.each(Object.entries(notReusable))('a connection %s is not used again', async (_, bytes) => {
    const upstream = await workbench.upstream(answerAlways(bytes));
    const client = workbench.client();
    const first = await useOnce(client, requestTo(upstream.origin));
    const second = await outcomeOf(client, requestTo(upstream.origin));
    expect([first.body, second.body]).toEqual(['ok', 'ok']);
    expect(upstream.connections).toHaveLength(2);
  });

  test('an idle connection is closed after its time', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    await outcomeOf(workbench.client({ idleTimeoutMs: 30 }), requestTo(upstream.origin));
    await upstream.connections[0]?.closed();
  });

  test('a connection is not used beyond its age', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const client = workbench.client({ maxConnectionAgeMs: 1 });
    await useOnce(client, requestTo(upstream.origin));
    const start = performance.now();
    while (performance.now() - start < 3) await new Promise(setImmediate);
    await useOnce(client, requestTo(upstream.origin));
    await useOnce(client, requestTo(upstream.origin));
    expect(upstream.connections.length).toBeGreaterThan(1);
  });

  /** Answers the first request on the first connection, then does something else to the second. */
  const staleAfterFirst =
    (onSecond: 'reset' | 'end', onFresh: 'answer' | 'reset' = 'answer'): Script =>
    async (connection) => {
      if (connection.number === 1) {
        await connection.answer(okAnswer);
        await connection.request();
        if (onSecond === 'reset') connection.reset();
        else connection.socket.end();
      } else if (onFresh === 'answer') {
        await connection.answer(okAnswer);
      } else {
        await connection.request();
        connection.reset();
      }
    };

  test.each(['reset', 'end'] as const)('a reused connection that dies by %s costs nothing', async (death) => {
    const upstream = await workbench.upstream(staleAfterFirst(death));
    const client = workbench.client();
    await useOnce(client, requestTo(upstream.origin));
    const second = await outcomeOf(client, requestTo(upstream.origin));
    expect(second).toMatchObject({ status: 200, body: 'ok', failure: null });
    expect(upstream.connections).toHaveLength(2);
  });

  test('what must not be sent twice never meets a stale connection, and is not sent again', async () => {
    const upstream = await workbench.upstream(staleAfterFirst('reset', 'reset'));
    const client = workbench.client();
    await useOnce(client, requestTo(upstream.origin));
    const second = await outcomeOf(client, requestTo(upstream.origin, { fresh: true }));
    expect(second).toMatchObject({ status: null, failure: { kind: 'reset' } });
    expect(upstream.connections).toHaveLength(2);
  });

  test('the free retry happens once', async () => {
    const upstream = await workbench.upstream(staleAfterFirst('reset', 'reset'));
    const client = workbench.client();
    await useOnce(client, requestTo(upstream.origin));
    const second = await outcomeOf(client, requestTo(upstream.origin));
    expect(second).toMatchObject({ status: null, failure: { kind: 'reset' } });
    expect(upstream.connections).toHaveLength(2);
  });

  test('a retry goes to a new connection, although others are idle', async () => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer(okAnswer);
      if ((await connection.request()) === null) return;
      if (connection.number < 3) connection.reset();
    });
    const client = workbench.client();
    await Promise.all([1, 2].map(() => useOnce(client, requestTo(upstream.origin))));
    const third = await outcomeOf(client, requestTo(upstream.origin));
    expect(third).toMatchObject({ body: 'ok', failure: null });
    expect(upstream.connections).toHaveLength(3);
  });

  test('after the first byte of an answer nothing is sent again', async () => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer(okAnswer);
      await connection.answer('H');
      setImmediate(() => connection.reset());
    });
    const client = workbench.client();
    await useOnce(client, requestTo(upstream.origin));
    const second = await outcomeOf(client, requestTo(upstream.origin));
    expect(second.failure).not.toBeNull();
    expect(upstream.connections).toHaveLength(1);
  });

  test('closing the client fails what is under way and refuses what comes', async () => {
    const upstream = await workbench.upstream(() => {});
    const client = workbench.client();
    const underWay = outcomeOf(client, requestTo(upstream.origin));
    await client.close();
    const after = outcomeOf(client, requestTo(upstream.origin));
    expect((await underWay).failure?.kind).toBe('aborted');
    expect((await after).failure?.kind).toBe('aborted');
  });
}
