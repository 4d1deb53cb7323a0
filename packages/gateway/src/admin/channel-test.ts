import { fillPath, unreachable } from '@headgate/protocols';
import type { Channel, Credential, Target } from '../core/catalogue.ts';
import type { Upstream, UpstreamCall } from '../ports/upstream.ts';
import type { UpstreamFailure, UpstreamHead } from '../ports/upstream-client.ts';

/** What came of asking a channel for something small. */
export interface ChannelTest {
  readonly channelId: string;
  /** The credential it was asked with, by its id; null when it needs none. */
  readonly credentialId: string | null;
  readonly works: boolean;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** What failed, for the operator; what was asked, when nothing did. */
  readonly detail: string;
}

interface Exchange {
  readonly head: UpstreamHead | null;
  readonly body: string;
  readonly failure: UpstreamFailure | null;
}

type Question = Omit<UpstreamCall, 'credential'>;

const bodyBytesMax = 1_048_576;

/** Asks a channel for its list of models, or for one token of a model when it has no list or `call` wants an answer. */
export async function testChannel(
  upstream: Upstream,
  target: Target,
  credential: Credential | null,
  options: { readonly call: boolean; readonly timeoutMs: number },
): Promise<ChannelTest> {
  const { channel } = target;
  const { modelsPath } = channel.provider;
  const asked =
    options.call || modelsPath === null ? `one token of ${target.upstreamModel}` : 'its list of models';
  const started = performance.now();
  const exchange = await exchangeWith(
    upstream,
    target,
    credential,
    asked === 'its list of models' ? modelsPath : null,
    options.timeoutMs,
  );
  const durationMs = Math.round(performance.now() - started);
  const status = exchange.head?.status ?? null;
  const works = exchange.failure === null && status === 200;
  return {
    channelId: channel.id,
    credentialId: credential?.id ?? null,
    works,
    status,
    durationMs,
    detail: works ? `answered ${asked}` : explain(channel, credential, exchange),
  };
}

function exchangeWith(
  upstream: Upstream,
  target: Target,
  credential: Credential | null,
  listPath: string | null,
  timeoutMs: number,
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const chunks: Uint8Array[] = [];
  let head: UpstreamHead | null = null;
  let bytes = 0;
  const finish = (failure: UpstreamFailure | null): void => {
    clearTimeout(timer);
    resolve({ head, body: Buffer.concat(chunks).toString('utf8'), failure });
  };
  const exchange = upstream.send(
    { credential, ...(listPath === null ? oneTokenCall(target) : listCall(target.channel, listPath)) },
    {
      onHead: (received) => {
        head = received;
      },
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes <= bodyBytesMax) chunks.push(chunk);
      },
      onEnd: () => finish(null),
      onFailure: finish,
    },
  );
  const timer = setTimeout(() => exchange.abort(), timeoutMs);
  return promise;
}

function listCall(channel: Channel, path: string): Question {
  return { channel, method: 'GET', path, headers: versionedHeaders(channel), body: [], fresh: false };
}

function oneTokenCall({ channel, upstreamModel }: Target): Question {
  const spoken = spokenFirst(channel);
  const body = smallestCall(spoken.id, upstreamModel, channel);
  return {
    channel,
    method: 'POST',
    path: fillPath(spoken.path, upstreamModel, 'generateContent'),
    headers: ['content-type', 'application/json', ...versionedHeaders(channel)],
    body: [new TextEncoder().encode(JSON.stringify(body))],
    fresh: false,
  };
}

/** The protocols a test can be made in, the one preferred most first. */
const testable = ['chat-completions', 'responses', 'messages', 'generate-content'] as const;

function spokenFirst({ provider: { protocols } }: Channel) {
  const id = testable.find((each) => protocols[each] !== undefined) ?? 'chat-completions';
  return { id, path: protocols[id] ?? '/chat/completions' };
}

function smallestCall(
  protocol: (typeof testable)[number],
  model: string,
  { provider: { dialect } }: Channel,
): object {
  const messages = [{ role: 'user', content: 'Hi' }];
  switch (protocol) {
    case 'chat-completions':
      return dialect.maxTokensField === 'max_tokens'
        ? { model, messages, max_tokens: 1 }
        : { model, messages, max_completion_tokens: 1 };
    case 'responses':
      // The least that is accepted there.
      return { model, input: 'Hi', max_output_tokens: 16 };
    case 'messages':
      return { model, messages, max_tokens: 1 };
    case 'generate-content':
      // The model is in the path.
      return {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig: { maxOutputTokens: 1 },
      };
    default:
      return unreachable(protocol);
  }
}

/** Who speaks messages alone wants their version on every request. */
function versionedHeaders(channel: Channel): readonly string[] {
  const accept = ['accept', 'application/json'];
  if (spokenFirst(channel).id !== 'messages') return accept;
  return [...accept, 'anthropic-version', channel.provider.dialect.messagesVersion];
}

function explain(
  { baseUrl }: Channel,
  credential: Credential | null,
  { head, body, failure }: Exchange,
): string {
  if (failure !== null) return `${explainFailure(failure)} (${baseUrl})`;
  const words = excerpt(credential === null ? body : body.replaceAll(credential.secret, '…'));
  switch (head?.status) {
    case 401:
    case 403:
      return `the credential is refused: ${words}`;
    case 402:
      return `the provider wants to be paid: ${words}`;
    case 404:
      return `the address or the model is not known there: ${words}`;
    case 429:
      return `rate limited or out of quota: ${words}`;
    default:
      return words;
  }
}

function explainFailure({ kind, detail }: UpstreamFailure): string {
  switch (kind) {
    case 'unreachable':
      return `cannot be reached: ${detail}`;
    case 'connect-timeout':
      return 'does not accept the connection in time';
    case 'reset':
      return `breaks the connection: ${detail}`;
    case 'garbled':
      return `does not speak HTTP: ${detail}`;
    case 'forbidden-address':
      return `leads to a private address; allow it with allowPrivate: true (${detail})`;
    case 'aborted':
      return 'does not answer in time';
  }
}

function excerpt(body: string): string {
  const text = body.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return 'no body';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
