import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProtocolId } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Channel, Provider } from '../../catalogue/catalogue.ts';
import { toProvider } from '../../config/provider-document.ts';
import { openUpstream } from '../../upstream/channels.ts';
import { HttpClient } from '../../upstream/client.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { type ConnectionCause, connectionCauses } from '../connection-causes.ts';
import { tryChannel } from './try-channel.ts';

const catalogue = openCatalogueFiles();
const client = new HttpClient({ connectTimeoutMs: 300 });
const server = createServer((request, response) => answer(request, response));
let answer: RequestListener = (_, response) => response.end();
let origin = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await client.close();
  server.close();
  server.closeAllConnections();
});

/** A preset for each protocol, asked in that protocol alone; all but the last of these have a call so small that it is made. */
const presets: readonly (readonly [preset: string, protocol: ProtocolId])[] = [
  ['openai', 'chat-completions'],
  ['openrouter', 'chat-completions'],
  ['ollama', 'chat-completions'],
  ['openai', 'responses'],
  ['anthropic', 'messages'],
  ['google', 'generate-content'],
  ['openai', 'images'],
];

/** Whole answers, each of another protocol than the others. */
const answers: Readonly<Record<string, object>> = {
  'chat-completions': {
    ...{ id: 'c', object: 'chat.completion', model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
  },
  responses: {
    ...{ id: 'r', object: 'response', status: 'completed', model: 'm' },
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }],
  },
  messages: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'a' }], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  'generate-content': {
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
  },
};

/** What each vendor family says, in its own shape. */
function refusal(protocol: ProtocolId, status: number, kind: string, message: string): object {
  switch (protocol) {
    case 'messages':
      return { type: 'error', error: { type: kind, message } };
    case 'generate-content':
      return { error: { code: status, message, status: kind.toUpperCase() } };
    default:
      return { error: { message, type: kind, param: null, code: kind } };
  }
}

interface Mishap {
  readonly cause: ConnectionCause;
  readonly says?: (protocol: ProtocolId) => readonly [status: number, body: object | string];
  readonly baseUrl?: () => string;
  readonly timeoutMs?: number;
}

/** Everything that often goes wrong, and the cause that is told. */
const troubles: Readonly<Record<string, Mishap>> = {
  '401': {
    cause: 'unauthorized',
    says: (protocol) => [401, refusal(protocol, 401, 'authentication_error', 'The key is not valid')],
  },
  '403': {
    cause: 'forbidden',
    says: (protocol) => [403, refusal(protocol, 403, 'permission_error', 'This key may not do that')],
  },
  '404 of the model': {
    cause: 'model-not-found',
    says: (protocol) => [404, refusal(protocol, 404, 'not_found_error', 'model: m is not found')],
  },
  '429': {
    cause: 'rate-limited',
    says: (protocol) => [429, refusal(protocol, 429, 'rate_limit_error', 'Too many requests')],
  },
  '500': {
    cause: 'upstream-error',
    says: (protocol) => [500, refusal(protocol, 500, 'api_error', 'Internal server error')],
  },
  '502 in HTML': { cause: 'upstream-error', says: () => [502, '<html><h1>Bad gateway</h1></html>'] },
  'a name that is not in DNS': { cause: 'dns', baseUrl: () => 'http://no-such-host.invalid/v1' },
  'TLS where none is spoken': { cause: 'tls', baseUrl: () => `${origin.replace('http:', 'https:')}/v1` },
  'no answer': { cause: 'timeout', timeoutMs: 60 },
  'the answer of another protocol': {
    cause: 'protocol',
    says: (protocol) => [200, answers[protocol === 'messages' ? 'chat-completions' : 'messages'] ?? {}],
  },
  'a page of a firewall': { cause: 'web-page', says: () => [403, '<!doctype html><html>Denied</html>'] },
  'a page in the place of an answer': { cause: 'web-page', says: () => [200, '\n<html>Sign in</html>'] },
};

function providerOf(preset: string, protocol: ProtocolId): Provider {
  const document = catalogue.provider(preset);
  if (document === null) throw new Error(`there is no preset ${preset}`);
  const provider = toProvider(document);
  const path = provider.protocols[protocol];
  if (path === undefined) throw new Error(`${preset} does not speak ${protocol}`);
  return { ...provider, protocols: { [protocol]: path } };
}

function trial(preset: string, protocol: ProtocolId, { baseUrl, timeoutMs = 2_000 }: Partial<Mishap> = {}) {
  const provider = providerOf(preset, protocol);
  const channel: Channel = {
    ...{ id: 'tried', source: 'console', alias: 'Tried', provider },
    baseUrl: baseUrl?.() ?? `${origin}/v1`,
    credentials: provider.credential.scheme === 'none' ? [] : [{ id: 'secret', secret: 'sk-canary-secret' }],
    ...{ priority: 0, enabled: true, drain: false, maxConcurrency: null, hangUp: null, listed: null },
    ...{ headers: [], proxy: null, secrets: [], simulated: false, allowPrivate: true },
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
  };
  const tools = {
    ...{ upstream: openUpstream(client), catalogue, models: new Map(), nowMs: Date.UTC(2026, 10, 23) },
    ...{ timeoutMs, sketch: () => Promise.reject(new Error('not asked for')) },
  };
  return tryChannel(channel, { model: 'm' }, tools);
}

function listen(status: number, body: object | string): void {
  answer = (_, response) =>
    response
      .writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Nothing but its list is asked of a channel of images, where no model is named and no call is small. */
function causeFor(protocol: ProtocolId, cause: ConnectionCause): ConnectionCause {
  return protocol === 'images' && cause === 'model-not-found' ? 'not-found' : cause;
}

describe.each(presets)('%s by %s', (preset, protocol) => {
  test.each(Object.entries(troubles))('%s', async (_, trouble) => {
    if (trouble.says === undefined) answer = () => undefined;
    else listen(...trouble.says(protocol));
    const { works, steps } = await trial(preset, protocol, trouble);
    const cause = causeFor(protocol, trouble.cause);
    expect(works).toBe(false);
    // The cause, in words of what failed and of how to mend it.
    expect(steps.at(-1)).toMatchObject({ works: false, cause, ...connectionCauses[cause] });
    expect(JSON.stringify(steps)).not.toContain('canary');
  });
});

const ofCalls = presets.filter(([, protocol]) => answers[protocol] !== undefined);

test.each(ofCalls)('%s by %s: an answer of its own protocol works', async (preset, protocol) => {
  listen(200, answers[protocol] ?? {});
  const { works, steps } = await trial(preset, protocol);
  expect(steps.at(-1)).toMatchObject({ asked: 'call', works: true, cause: null });
  expect(works).toBe(true);
});
