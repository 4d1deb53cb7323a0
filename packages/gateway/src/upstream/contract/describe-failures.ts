import { expect, test } from 'vitest';
import { outcomeOf, requestTo, sendRecorded } from './recorded-answer.ts';
import { openScriptedUpstream } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

export function describeFailures(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  test('a port where nobody listens is unreachable', async () => {
    const upstream = await openScriptedUpstream(() => {});
    await upstream.close();
    const { failure } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(failure?.kind).toBe('unreachable');
  });

  test('a handshake that takes too long is a connect time-out', async () => {
    const upstream = await workbench.upstream(() => {});
    const client = workbench.client({ connectTimeoutMs: 50 });
    const request = requestTo(`https://127.0.0.1:${upstream.port}`);
    expect((await outcomeOf(client, request)).failure?.kind).toBe('connect-timeout');
    await upstream.connections[0]?.closed();
  });

  test.each(['reset', 'end'] as const)(
    'a new connection that dies by %s is not tried again',
    async (death) => {
      const upstream = await workbench.upstream(async (connection) => {
        await connection.request();
        if (death === 'reset') connection.reset();
        else connection.socket.end();
      });
      const { failure } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
      expect(failure?.kind).toBe('reset');
      expect(upstream.connections).toHaveLength(1);
    },
  );

  test('a connection reset within the body is a reset', async () => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    });
    const client = workbench.client();
    const answer = sendRecorded(client, requestTo(upstream.origin));
    await answer.headArrived;
    upstream.connections[0]?.reset();
    expect(await answer.outcome).toMatchObject({ status: 200, body: 'half', failure: { kind: 'reset' } });
  });

  const cutAnswers = {
    'before its announced length': 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf',
    'before its last chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'within its head': 'HTTP/1.1 200 OK\r\ncontent-le',
  };

  test.each(Object.entries(cutAnswers))('an answer that ends %s is garbled', async (_, bytes) => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer(bytes);
      connection.socket.end();
    });
    const { failure } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(failure?.kind).toBe('garbled');
  });

  const head = 'HTTP/1.1 200 OK\r\n';
  const garbledAnswers = {
    'another protocol': 'SSH-2.0-OpenSSH_9.9\r\n\r\n',
    'a status that is no number': 'HTTP/1.1 2xx OK\r\ncontent-length: 0\r\n\r\n',
    'a folded header': `${head}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`,
    'a blank before the colon': `${head}content-length : 0\r\n\r\n`,
    'a header without a colon': `${head}nonsense\r\ncontent-length: 0\r\n\r\n`,
    'a NUL in a header': `${head}x-a: \0\r\ncontent-length: 0\r\n\r\n`,
    'a length and chunks': `${head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `${head}content-length: 3\r\ncontent-length: 4\r\n\r\nfour`,
    'a negative length': `${head}content-length: -1\r\n\r\n`,
    'a length in words': `${head}content-length: two\r\n\r\nok`,
    'a chunk size that is no number': `${head}transfer-encoding: chunked\r\n\r\nxy\r\nhello\r\n0\r\n\r\n`,
    'a negative chunk size': `${head}transfer-encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n`,
    'an endless chunk size': `${head}transfer-encoding: chunked\r\n\r\n${'f'.repeat(20)}\r\nhello`,
    'a chunk longer than its size': `${head}transfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n`,
    'a head without an end': `${head}x-long: ${'a'.repeat(70_000)}`,
    'an upgrade nobody asked for': 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  };

  test.each(Object.entries(garbledAnswers))('%s is garbled', async (_, bytes) => {
    const upstream = await workbench.upstream((connection) => connection.answer(bytes));
    const { failure } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(failure?.kind).toBe('garbled');
    await upstream.connections[0]?.closed();
  });
}
