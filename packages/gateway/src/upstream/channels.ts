import { fail, type Result, succeed } from '@headgate/protocols';
import type { Channel } from '../catalogue/catalogue.ts';
import type {
  Upstream,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamLine,
  UpstreamPlace,
} from '../ports/upstream.ts';
import { bodyLength, type HttpClient, headerLines, lengthLines, openingOf, refuseRequest } from './client.ts';
import { credentialHeaders, namesOf, withChannelHeaders } from './credentials/headers.ts';
import type { Pool } from './pool.ts';

/** The way to channels over a client: adds address and credential, once for each line. */
export function openUpstream(client: HttpClient): Upstream {
  return {
    line(place) {
      const written = writeLine(client, place);
      return written.ok ? written.value : brokenLine(written.error);
    },
  };
}

function writeLine(client: HttpClient, place: UpstreamPlace): Result<UpstreamLine, UpstreamFailure> {
  const { channel, credential, method, path, headers } = place;
  const address = addressOf(channel);
  if (!address.ok) return address;
  const made = credentialHeaders(channel.provider.credential, credential?.secret ?? null);
  if (!made.ok) return fail({ kind: 'unreachable', detail: made.error });
  const { origin, basePath } = address.value;
  const { id: channelId, allowPrivate, proxy, timeouts } = channel;
  const pool = client.pool({ origin, channelId, allowPrivate, proxy, connectTimeoutMs: timeouts.connectMs });
  if (!pool.ok) return pool;
  const { authority } = pool.value;
  const own = [...channel.headers, ...made.value];
  const opening = openingOf(method, basePath + path, authority, withChannelHeaders(headers, own));
  return succeed(new ChannelLine(pool.value, opening, method, namesOf(own)));
}

function addressOf({ baseUrl }: Channel): Result<{ origin: string; basePath: string }, UpstreamFailure> {
  const url = URL.parse(baseUrl);
  if (url === null || url.username !== '' || url.password !== '') {
    return fail({
      kind: 'forbidden-address',
      detail: 'the base URL is no URL, or has user information in it',
    });
  }
  return succeed({ origin: url.origin, basePath: url.pathname.replace(/\/$/, '') });
}

class ChannelLine implements UpstreamLine {
  readonly #pool: Pool;
  readonly #opening: string;
  readonly #method: UpstreamPlace['method'];
  readonly #own: ReadonlySet<string>;

  constructor(pool: Pool, opening: string, method: UpstreamPlace['method'], own: ReadonlySet<string>) {
    this.#pool = pool;
    this.#opening = opening;
    this.#method = method;
    this.#own = own;
  }

  send(
    headers: readonly string[],
    body: readonly Uint8Array[],
    fresh: boolean,
    handler: UpstreamHandler,
  ): UpstreamExchange {
    const length = bodyLength(body);
    // Most calls have no header of their own.
    const own = headers.length === 0 ? '' : headerLines(withChannelHeaders(headers, [], this.#own));
    const head = this.#opening + own + lengthLines(this.#method, length);
    return this.#pool.send(head, body, length, fresh, handler);
  }
}

function brokenLine(failure: UpstreamFailure): UpstreamLine {
  return { send: (_headers, _body, _fresh, handler) => refuseRequest(handler, failure) };
}
