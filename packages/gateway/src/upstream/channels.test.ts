import { defaultDialect } from '@headgate/protocols';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Channel } from '../catalogue/catalogue.ts';
import { openUpstream } from './channels.ts';
import { HttpClient } from './client.ts';
import { RecordedAnswer } from './contract/recorded-answer.ts';
import { okAnswer, type ReceivedRequest } from './contract/scripted-upstream.ts';
import { setUpWorkbench } from './contract/workbench.ts';

const workbench = setUpWorkbench(() => new HttpClient());
const received: (ReceivedRequest | null)[] = [];

afterEach(() => {
  received.length = 0;
});

function channelAt(baseUrl: string): Channel {
  return {
    id: 'channel',
    source: 'file',
    alias: 'Channel',
    listed: null,
    provider: {
      id: 'provider',
      name: 'Provider',
      baseUrl,
      protocols: {},
      credential: { scheme: 'bearer' },
      dialect: defaultDialect,
      modelsPath: null,
      environment: [],
      simulated: false,
      documentation: null,
    },
    baseUrl,
    credentials: [],
    priority: 0,
    enabled: true,
    drain: false,
    maxConcurrency: null,
    headers: [],
    proxy: null,
    secrets: [],
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
    simulated: false,
    allowPrivate: true,
    hangUp: null,
  };
}

const client = new HttpClient();
afterAll(() => client.close());

async function call(channel: Channel, secret: string) {
  const answer = new RecordedAnswer();
  const line = openUpstream(client).line({
    channel,
    credential: { id: 'KEY', secret },
    method: 'POST',
    path: '/answers?x=1',
    headers: ['accept', 'a', 'cookie', 'c'],
  });
  answer.exchange = line.send(['x-own', 'o', 'cookie', 'd', 'authorization', 'e'], [], false, answer);
  return answer.outcome;
}

test.each(['/v1', '/v1/', '', '/'])(
  'a call to the base path "%s" carries path and credential',
  async (base) => {
    const upstream = await workbench.upstream(async (connection) => {
      received.push(await connection.request());
      connection.write(okAnswer);
    });
    expect((await call(channelAt(`${upstream.origin}${base}`), 'sk-1')).body).toBe('ok');
    const head = received[0]?.head ?? '';
    expect(head.split('\r\n')[0]).toBe(`POST ${base.replace(/\/$/, '')}/answers?x=1 HTTP/1.1`);
    expect(head).toContain('\r\nauthorization: Bearer sk-1');
    expect(head).toContain('\r\nx-own: o\r\ncontent-length: 0');
    expect(head).not.toMatch(/cookie|: e\r/);
  },
);

test.each([
  ['http://user:secret@127.0.0.1:9', 'sk-1', 'forbidden-address'],
  ['nonsense', 'sk-1', 'forbidden-address'],
  ['http://127.0.0.1:9', 'sk-1\r\nx: y', 'unreachable'],
])('a call to %s with the credential %j fails before it is sent', async (baseUrl, credential, kind) => {
  expect((await call(channelAt(baseUrl), credential)).failure?.kind).toBe(kind);
});

test('the headers of a channel stand in the place of others of their name, and never of its credential', async () => {
  const upstream = await workbench.upstream(async (connection) => {
    received.push(await connection.request());
    connection.write(okAnswer);
  });
  const headers = ['x-own', 'ours', 'x-team', 'house'];
  await call({ ...channelAt(upstream.origin), headers }, 'sk-1');
  const head = received[0]?.head ?? '';
  expect(head).toContain('\r\nx-own: ours\r\nx-team: house\r\nauthorization: Bearer sk-1\r\n');
  expect(head.match(/x-own/g)).toHaveLength(1);
});
