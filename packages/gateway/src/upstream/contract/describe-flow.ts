import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { outcomeOf, requestTo, sendRecorded } from './recorded-answer.ts';
import { answerAlways, okAnswer, type Script, type ScriptedConnection } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

const floodBytes = 64 * 1024 * 1024;
/** More than the buffers of both kernels on loopback hold, and far less than the flood. */
const stalledBytesMax = 24 * 1024 * 1024;

/** Writes as much as it is let, and stops when the other side stops reading. */
async function flood(connection: ScriptedConnection): Promise<void> {
  await connection.answer(`HTTP/1.1 200 OK\r\ncontent-length: ${floodBytes}\r\n\r\n`);
  const block = Buffer.alloc(65_536, 'flood');
  const blocks = Array.from({ length: floodBytes / block.length }, () => block);
  Readable.from(blocks).pipe(connection.socket, { end: false });
}

/** Resolves once the upstream has not got rid of a byte for a while. */
async function stalled({ socket }: ScriptedConnection): Promise<void> {
  let before = -1;
  const written = () => socket.bytesWritten - socket.writableLength;
  while (before !== written()) {
    before = written();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function describeFlow(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  test('a paused exchange stalls the upstream, keeps memory flat, and resumes without loss', async () => {
    const upstream = await workbench.upstream(flood);
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    let seen = 0;
    answer.onChunk = () => {
      seen += 1;
      if (seen === 1) answer.exchange?.pause();
    };
    await answer.headArrived;
    const connection = upstream.connections[0];
    if (connection === undefined) throw new Error('no connection');
    await stalled(connection);
    expect(connection.socket.bytesWritten).toBeLessThan(stalledBytesMax);
    expect(answer.bytesReceived).toBeLessThan(1_000_000);
    answer.exchange?.resume();
    await answer.outcome;
    expect(answer.bytesReceived).toBe(floodBytes);
  });

  test('an exchange paused before its answer gets no data until it is resumed', async () => {
    const upstream = await workbench.upstream(flood);
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    answer.exchange?.pause();
    while (upstream.connections[0] === undefined) await new Promise(setImmediate);
    await stalled(upstream.connections[0]);
    expect(answer.bytesReceived).toBeLessThan(1_000_000);
    answer.exchange?.resume();
    await answer.outcome;
    expect(answer.bytesReceived).toBe(floodBytes);
  });

  test('a request is being sent until its upstream has taken all of it, whatever it answers', async () => {
    const upstream = await workbench.upstream(({ socket }) => {
      socket.removeAllListeners('data').once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 9\r\n\r\ntoo');
      });
    });
    const body = [Buffer.alloc(floodBytes)];
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin, { body }));
    expect(answer.exchange?.isSent).toBe(false);
    await answer.headArrived;
    expect(answer.exchange?.isSent).toBe(false);
    upstream.connections[0]?.socket.resume();
    await expect.poll(() => answer.exchange?.isSent).toBe(true);
    upstream.connections[0]?.socket.write('-large');
    expect((await answer.outcome).body).toBe('too-large');
  });

  test('a request that was let go of is not read any more', async () => {
    const upstream = await workbench.upstream(({ socket }) => {
      socket.pause();
    });
    const body = [Buffer.alloc(floodBytes)];
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin, { body }));
    await expect.poll(() => upstream.connections.length).toBe(1);
    expect(answer.exchange?.isSent).toBe(false);
    answer.exchange?.abort();
    expect(answer.exchange?.isSent).toBe(true);
    await answer.outcome;
  });

  const silence: Script = async (connection) => {
    await connection.request();
  };
  const beginning: Script = async (connection) => {
    await connection.answer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n');
  };

  test('an abort before the answer closes the connection at once', async () => {
    const requested = Promise.withResolvers<void>();
    const upstream = await workbench.upstream(async (connection) => {
      await silence(connection);
      requested.resolve();
    });
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    await requested.promise;
    const abortedAt = performance.now();
    answer.exchange?.abort();
    await upstream.connections[0]?.closed();
    expect(performance.now() - abortedAt).toBeLessThan(100);
    expect(await answer.outcome).toMatchObject({ status: null, failure: { kind: 'aborted' } });
  });

  test('an abort within the answer closes the connection at once', async () => {
    const upstream = await workbench.upstream(beginning);
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    await new Promise<void>((resolve) => {
      answer.onChunk = () => resolve();
    });
    const abortedAt = performance.now();
    answer.exchange?.abort();
    answer.exchange?.abort();
    await upstream.connections[0]?.closed();
    expect(performance.now() - abortedAt).toBeLessThan(100);
    expect(await answer.outcome).toMatchObject({ status: 200, body: 'hi', failure: { kind: 'aborted' } });
  });

  test('an abort from within the handler ends the data there', async () => {
    const upstream = await workbench.upstream(flood);
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    let chunks = 0;
    answer.onChunk = () => {
      chunks += 1;
      answer.exchange?.abort();
    };
    expect((await answer.outcome).failure?.kind).toBe('aborted');
    expect(chunks).toBe(1);
  });

  test('an abort at the head keeps back the body that came with it', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const answer = sendRecorded(workbench.client(), requestTo(upstream.origin));
    answer.onHeaded = () => answer.exchange?.abort();
    expect(await answer.outcome).toMatchObject({ status: 200, body: '', failure: { kind: 'aborted' } });
  });

  test('an abort before the connection is there sends nothing', async () => {
    const upstream = await workbench.upstream(() => {});
    const client = workbench.client();
    const answer = sendRecorded(client, requestTo(upstream.origin));
    answer.exchange?.abort();
    expect((await answer.outcome).failure?.kind).toBe('aborted');
    await client.close();
    for (const connection of upstream.connections) expect(await connection.request()).toBeNull();
  });

  test('an abort after the end changes nothing', async () => {
    const upstream = await workbench.upstream((connection) => connection.answer(okAnswer));
    const client = workbench.client();
    const answer = sendRecorded(client, requestTo(upstream.origin));
    const outcome = await answer.outcome;
    answer.exchange?.abort();
    answer.exchange?.pause();
    answer.exchange?.resume();
    expect(outcome).toMatchObject({ body: 'ok', failure: null });
    expect(upstream.connections[0]?.socket.destroyed).toBe(false);
  });

  test('a pause left behind by one exchange does not hold up the next', async () => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer(okAnswer);
      await connection.answer(okAnswer);
    });
    const client = workbench.client();
    const first = sendRecorded(client, requestTo(upstream.origin));
    first.onChunk = () => first.exchange?.pause();
    await Promise.race([first.outcome, new Promise((resolve) => setTimeout(resolve, 50))]);
    first.exchange?.resume();
    await first.outcome;
    expect((await outcomeOf(client, requestTo(upstream.origin))).body).toBe('ok');
  });
}
