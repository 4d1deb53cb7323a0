import {
  protocols,
  readingHeaders,
  smallestCall,
  smallestProtocol,
  type UpstreamRefusal,
} from '@headgate/protocols';
import type { Channel, Credential, Target } from '../catalogue/catalogue.ts';
import type {
  Upstream,
  UpstreamFailure,
  UpstreamHead,
  UpstreamLine,
  UpstreamPlace,
} from '../ports/upstream.ts';
import { withoutSecrets } from '../route/words.ts';
import {
  type ConnectionCause,
  causeOfFailure,
  causeOfRefusal,
  connectionCauses,
} from './connection-causes.ts';

/** The result of asking a channel for something small. */
export interface ChannelTest {
  readonly channelId: string;
  /** The credential it was asked with, by its id; null when it needs none. */
  readonly credentialId: string | null;
  /** The model that was asked, as the upstream names it. */
  readonly model: string;
  readonly asked: 'models' | 'call' | 'address';
  readonly works: boolean;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Null when it works. */
  readonly cause: ConnectionCause | null;
  /** The words of the upstream or of the system, without our secrets; null where there are none, or it works. */
  readonly said: string | null;
  /** Says to the operator what failed, or what was asked when nothing did. */
  readonly detail: string;
}

/** A test, and the answer it got: empty when it does not work. */
export interface AnsweredTest {
  readonly test: ChannelTest;
  readonly body: string;
}

/** A target as far as a test asks it. */
export type TestedTarget = Pick<Target, 'channel' | 'upstreamModel' | 'facts'>;

interface Exchange {
  readonly head: UpstreamHead | null;
  readonly body: string;
  readonly failure: UpstreamFailure | null;
}

interface Question {
  readonly asks: ChannelTest['asked'];
  /** In words for the operator. */
  readonly asked: string;
  readonly place: Omit<UpstreamPlace, 'credential'>;
  readonly body: readonly Uint8Array[];
}

const bodyBytesMax = 1_048_576;

/** Asks a channel for its list of models, or for one token of a model when it has no list or `call` wants an answer. */
export async function testChannel(
  upstream: Upstream,
  target: TestedTarget,
  credential: Credential | null,
  options: { readonly call: boolean; readonly timeoutMs: number },
): Promise<ChannelTest> {
  return (await askChannel(upstream, target, credential, options)).test;
}

/** As above, with the answer. */
export async function askChannel(
  upstream: Upstream,
  target: TestedTarget,
  credential: Credential | null,
  options: { readonly call: boolean; readonly timeoutMs: number },
): Promise<AnsweredTest> {
  const { channel } = target;
  const { asks, asked, place, body } = questionFor(target, options.call);
  const started = performance.now();
  const exchange = await exchangeWith(upstream.line({ ...place, credential }), body, options.timeoutMs);
  const durationMs = Math.round(performance.now() - started);
  const cause = causeOf(exchange, channel, asks);
  const said = cause === null ? null : saidOf(exchange, channel);
  const test: ChannelTest = {
    channelId: channel.id,
    credentialId: credential?.id ?? null,
    model: target.upstreamModel,
    asked: asks,
    works: cause === null,
    status: exchange.head?.status ?? null,
    durationMs,
    cause,
    said,
    detail: cause === null ? `answered ${asked}` : detailOf(cause, said, channel.baseUrl),
  };
  return { test, body: cause === null ? exchange.body : '' };
}

/** One line that says why it fails, how to mend it, and what was said. */
export function detailOf(cause: ConnectionCause, said: string | null, baseUrl: string): string {
  const { words, fix } = connectionCauses[cause];
  return `${words}: ${fix} (${baseUrl})${said === null ? '' : `: ${said}`}`;
}

/** Null where it works. */
function causeOf(
  { failure, head, body }: Exchange,
  { provider }: Channel,
  asks: ChannelTest['asked'],
): ConnectionCause | null {
  if (failure !== null) return causeOfFailure(failure);
  const status = head?.status ?? 0;
  if (pageStatuses.has(status) && /^\s*<(?:!doctype\s+)?html\b/i.test(body)) return 'web-page';
  if (status !== 200) return causeOfAnswer(asks, refusalOf(provider, status, body));
  // Some answer 200 and say inside what went wrong.
  const value = parsed(body);
  if (!isObject(value)) return asks === 'models' && Array.isArray(value) ? null : 'protocol';
  if ('error' in value && value['error'] !== null && value['error'] !== undefined)
    return causeOfAnswer(asks, refusalOf(provider, status, body));
  return asks === 'call' ? causeOfCall(provider, body) : null;
}

/** A page that stands before an API answers with these; other statuses say by themselves where to look. */
const pageStatuses: ReadonlySet<number> = new Set([200, 401, 403]);

/** The cause of a body that is no answer to a call, else null. An answer of so few tokens may be blank. */
function causeOfCall(
  { protocols: paths, dialect }: Channel['provider'],
  body: string,
): ConnectionCause | null {
  const protocol = smallestProtocol(paths);
  if (protocol === null) return null;
  const read = protocols[protocol].readAnswer(Buffer.from(body), dialect);
  return read.kind === 'answer' || read.refusal.kind === 'blank' ? null : causeOfRefusal(read.refusal);
}

/** A list is asked for by no model's name: where its address has "models" in it, an answer may name them all the same. */
function causeOfAnswer(asks: ChannelTest['asked'], refusal: UpstreamRefusal): ConnectionCause {
  const cause = causeOfRefusal(refusal);
  return asks === 'models' && cause === 'model-not-found' ? 'not-found' : cause;
}

function refusalOf({ protocols: paths }: Channel['provider'], status: number, body: string) {
  const protocol = smallestProtocol(paths) ?? 'chat-completions';
  return protocols[protocol].readRefusal(status, Buffer.from(body));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
function questionFor(target: TestedTarget, wantsCall: boolean): Question {
  const { modelsPath } = target.channel.provider;
  const list = modelsPath === null ? null : listOf(target.channel, modelsPath);
  const token = oneTokenOf(target);
  return (
    (wantsCall ? (token ?? list) : (list ?? token)) ?? {
      ...listOf(target.channel, ''),
      ...{ asks: 'address', asked: 'at its address' },
    }
  );
}

function listOf(channel: Channel, path: string): Question {
  const { protocols, dialect } = channel.provider;
  const headers = readingHeaders(protocols, dialect);
  return {
    asks: 'models',
    asked: 'its list of models',
    place: { channel, method: 'GET', path, headers },
    body: [],
  };
}

function oneTokenOf({ channel, upstreamModel, facts }: TestedTarget): Question | null {
  if (upstreamModel === '') return null;
  const { protocols, dialect } = channel.provider;
  const small = smallestCall(protocols, upstreamModel, dialect, facts);
  if (small === null) return null;
  const { path, contentType, body } = small;
  const headers = ['content-type', contentType, 'accept', 'application/json', ...small.headers];
  return {
    asks: 'call',
    asked: `one token of ${upstreamModel}`,
    place: { channel, method: 'POST', path, headers },
    body,
  };
}

function saidOf({ body, failure }: Exchange, channel: Channel): string | null {
  const text = withoutSecrets(failure === null ? excerpt(body) : failure.detail, channel);
  return text === '' ? null : text;
}

function excerpt(body: string): string {
  const text = body.replaceAll(/\s+/g, ' ').trim();
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
