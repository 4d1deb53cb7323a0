import { readingHeaders, smallestCall } from '@headgate/protocols';
import type { Channel, Credential, Target } from '../catalogue/catalogue.ts';
import type {
  Upstream,
  UpstreamFailure,
  UpstreamHead,
  UpstreamLine,
  UpstreamPlace,
} from '../ports/upstream.ts';
import { withoutSecrets } from '../route/words.ts';

/** The result of asking a channel for something small. */
export interface ChannelTest {
  readonly channelId: string;
  /** The credential it was asked with, by its id; null when it needs none. */
  readonly credentialId: string | null;
  /** The model that was asked, as the upstream names it. */
  readonly model: string;
  readonly works: boolean;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Says to the operator what failed, or what was asked when nothing did. */
  readonly detail: string;
}

interface Exchange {
  readonly head: UpstreamHead | null;
  readonly body: string;
  readonly failure: UpstreamFailure | null;
}

interface Question {
  /** In words for the operator. */
  readonly asked: string;
  readonly place: Omit<UpstreamPlace, 'credential'>;
  readonly body: readonly Uint8Array[];
}

const bodyBytesMax = 1_048_576;

/** Asks a channel for its list of models, or for one token of a model when it has no list or `call` wants an answer. */
export async function testChannel(
  upstream: Upstream,
  target: Target,
  credential: Credential | null,
  options: { readonly call: boolean; readonly timeoutMs: number },
): Promise<ChannelTest> {
  const { channel } = target;
  const { asked, place, body } = questionFor(target, options.call);
  const started = performance.now();
  const exchange = await exchangeWith(upstream.line({ ...place, credential }), body, options.timeoutMs);
  const durationMs = Math.round(performance.now() - started);
  const status = exchange.head?.status ?? null;
  const works = exchange.failure === null && status === 200 && !isFault(exchange.body);
  return {
    channelId: channel.id,
    credentialId: credential?.id ?? null,
    model: target.upstreamModel,
    works,
    status,
    durationMs,
    detail: works ? `answered ${asked}` : explain(channel, exchange),
  };
}

/** Some answer 200 and say inside what went wrong. */
function isFault(body: string): boolean {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'error' in answer && answer.error !== null;
  } catch {
    // A page is no answer of an API.
    return true;
  }
}

function exchangeWith(
  line: UpstreamLine,
  request: readonly Uint8Array[],
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
  const exchange = line.send([], request, false, {
    onHead: (received) => {
      head = received;
    },
    onData: (chunk) => {
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) chunks.push(Buffer.from(chunk));
    },
    onEnd: () => finish(null),
    onFailure: finish,
  });
  const timer = setTimeout(() => exchange.abort(), timeoutMs);
  return promise;
}

/** A channel with neither a model list nor a call so small, such as one of images, is asked for its base URL. */
function questionFor(target: Target, wantsCall: boolean): Question {
  const { modelsPath } = target.channel.provider;
  const list = modelsPath === null ? null : listOf(target.channel, modelsPath);
  const token = oneTokenOf(target);
  return (wantsCall ? (token ?? list) : (list ?? token)) ?? listOf(target.channel, '');
}

function listOf(channel: Channel, path: string): Question {
  const { protocols, dialect } = channel.provider;
  const headers = readingHeaders(protocols, dialect);
  return { asked: 'its list of models', place: { channel, method: 'GET', path, headers }, body: [] };
}

function oneTokenOf({ channel, upstreamModel, facts }: Target): Question | null {
  const { protocols, dialect } = channel.provider;
  const small = smallestCall(protocols, upstreamModel, dialect, facts);
  if (small === null) return null;
  const { path, contentType, body } = small;
  const headers = ['content-type', contentType, 'accept', 'application/json', ...small.headers];
  return { asked: `one token of ${upstreamModel}`, place: { channel, method: 'POST', path, headers }, body };
}

function explain(channel: Channel, { head, body, failure }: Exchange): string {
  const { baseUrl } = channel;
  if (failure !== null) return `${withoutSecrets(explainFailure(failure), channel)} (${baseUrl})`;
  const words = excerpt(withoutSecrets(body, channel));
  switch (head?.status) {
    case 401:
    case 403:
      return `the credential is refused: put a valid one into its place, or look at what it may do: ${words}`;
    case 402:
      return `the provider wants to be paid: add credit to the account: ${words}`;
    case 404:
      return `the address or the model is not known there: look at baseUrl (${baseUrl}), and at upstream of the model: ${words}`;
    case 429:
      return `rate limited or out of quota: wait, or raise the limit there: ${words}`;
    default:
      return words;
  }
}

function explainFailure({ kind, detail }: UpstreamFailure): string {
  const words = {
    unreachable: `cannot be reached: ${remedyFor(detail)}${detail}`,
    'connect-timeout':
      'does not accept the connection in time: look at the port of baseUrl, at firewalls and at the proxy',
    reset: `breaks the connection: ${detail}`,
    garbled: `does not speak HTTP: ${detail}`,
    'forbidden-address': `leads to a private address; allow it with allowPrivate: true (${detail})`,
    aborted: 'does not answer in time: ask again, or raise --first-content-timeout for a model this slow',
  } satisfies Record<typeof kind, string>;
  return words[kind];
}

/** The usual causes that a system names, and where to look. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND|EAI_AGAIN/, 'no such name in DNS; look at the host of baseUrl, and at the resolver: '],
  [/ECONNREFUSED/, 'nobody listens there; look at host and port of baseUrl: '],
  [/ENETUNREACH|EHOSTUNREACH/, 'there is no way to that network; look at routes and the proxy: '],
  [
    /CERT|SSL|TLS|self-signed|wrong version/i,
    'TLS fails; look at https in baseUrl, the clock, and NODE_EXTRA_CA_CERTS: ',
  ],
];

function remedyFor(detail: string): string {
  return remedies.find(([pattern]) => pattern.test(detail))?.[1] ?? '';
}

function excerpt(body: string): string {
  const text = body.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return 'no body';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
