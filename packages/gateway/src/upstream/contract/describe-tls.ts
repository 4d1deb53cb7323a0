import { readFileSync } from 'node:fs';
import { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { outcomeOf, requestTo, sendRecorded } from './recorded-answer.ts';
import { answerAlways, okAnswer, type ScriptedConnection } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

/** Made for these tests: its own authority, valid for `localhost`, until the year 2126. */
const certificate = readFileSync(new URL('../fixtures/localhost-certificate.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('../fixtures/localhost-key.pem', import.meta.url), 'utf8');
const server = { cert: certificate, key };
const trusting = { certificateAuthorities: [certificate] };

function tlsSocket(connection: ScriptedConnection | undefined): TLSSocket {
  if (!(connection?.socket instanceof TLSSocket)) throw new Error('not a TLS connection');
  return connection.socket;
}

export function describeTls(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  test('a trusted upstream is asked for by name, in HTTP/1.1', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer), {
      ...server,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    const outcome = await outcomeOf(workbench.client(trusting), requestTo(upstream.origin));
    expect(outcome).toMatchObject({ body: 'ok', failure: null });
    const socket = tlsSocket(upstream.connections[0]);
    expect(socket.alpnProtocol).toBe('http/1.1');
    expect(socket.servername).toBe('localhost');
  });

  test('the next connection resumes the session', async () => {
    const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';
    const upstream = await workbench.upstream(answerAlways(closing), server);
    const client = workbench.client(trusting);
    await outcomeOf(client, requestTo(upstream.origin));
    await outcomeOf(client, requestTo(upstream.origin));
    const [first, second] = upstream.connections.map(tlsSocket);
    expect(first?.isSessionReused()).not.toBe(true);
    expect(second?.isSessionReused()).toBe(true);
  });

  test('a certificate nobody vouches for is refused', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer), server);
    const { failure } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(failure?.kind).toBe('unreachable');
  });

  test('a certificate for another name is refused', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer), server);
    const request = requestTo(`https://127.0.0.1:${upstream.port}`);
    const { failure } = await outcomeOf(workbench.client(trusting), request);
    expect(failure?.kind).toBe('unreachable');
  });

  test('a large answer comes whole, through a pause', async () => {
    const body = 'x'.repeat(3_000_000);
    const upstream = await workbench.upstream(
      answerAlways(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      server,
    );
    const answer = sendRecorded(workbench.client(trusting), requestTo(upstream.origin));
    await new Promise<void>((resolve) => {
      answer.onChunk = () => {
        answer.exchange?.pause();
        resolve();
      };
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(answer.bytesReceived).toBeLessThan(1_000_000);
    answer.onChunk = () => {};
    answer.exchange?.resume();
    expect((await answer.outcome).body === body).toBe(true);
  });
}
