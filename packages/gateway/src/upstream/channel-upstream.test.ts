import { defaultDialect } from '@headgate/protocols';
import { afterEach, expect, test } from 'vitest';
import type { Channel } from '../core/catalogue.ts';
import { openChannelUpstream } from './channel-upstream.ts';
import { RecordedAnswer } from './contract/recorded-answer.ts';
import { okAnswer, type ReceivedRequest } from './contract/scripted-upstream.ts';
import { setUpWorkbench } from './contract/workbench.ts';
import { openHttp1Client } from './http1-client.ts';

const workbench = setUpWorkbench(openHttp1Client);
const received: (ReceivedRequest | null)[] = [];

afterEach(() => {
  received.length = 0;
});

function channelAt(baseUrl: string): Channel {
  return {
    id: 'channel',
    alias: 'Channel',
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
    simulated: false,
    allowPrivate: true,
  };
}

async function call(channel: Channel, secret: string, upstream = openChannelUpstream(workbench.client())) {
  const answer = new RecordedAnswer();
  answer.exchange = upstream.send(
    {
      channel,
      credential: { id: 'KEY', secret },
      method: 'POST',
      path: '/answers?x=1',
      headers: ['accept', 'a', 'cookie', 'c'],
      body: [],
      fresh: false,
    },
    answer,
  );
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
    expect(head).not.toContain('cookie');
  },
);

test.each([
  ['http://user:secret@127.0.0.1:9', 'sk-1', 'forbidden-address'],
  ['nonsense', 'sk-1', 'forbidden-address'],
  ['http://127.0.0.1:9', 'sk-1\r\nx: y', 'unreachable'],
])('a call to %s with the credential %j fails before it is sent', async (baseUrl, credential, kind) => {
  expect((await call(channelAt(baseUrl), credential)).failure?.kind).toBe(kind);
});
