import { fail, type Result, succeed } from '@headgate/protocols';
import type { Channel, Credential, CredentialScheme } from '../core/catalogue.ts';
import type { Upstream, UpstreamCall } from '../ports/upstream.ts';
import type { UpstreamClient, UpstreamFailure, UpstreamRequest } from '../ports/upstream-client.ts';
import { credentialHeaders, withCredential } from './credential.ts';
import { refuseRequest } from './refuse-request.ts';

/** A channel's base URL taken apart, and its credentials as headers: worked out once per channel, not per call. */
interface Address {
  readonly origin: string;
  readonly basePath: string;
  readonly headersOf: (credential: Credential | null) => Result<readonly string[], UpstreamFailure>;
}

/** Sends calls to channels: adds address and credential. */
export function openChannelUpstream(client: UpstreamClient): Upstream {
  // A channel is an immutable value of the catalogue: a changed one is another key, and the old one is collected.
  const addresses = new WeakMap<Channel, Result<Address, UpstreamFailure>>();
  return {
    send(call, handler) {
      let address = addresses.get(call.channel);
      if (address === undefined) {
        address = addressOf(call.channel);
        addresses.set(call.channel, address);
      }
      if (!address.ok) return refuseRequest(handler, address.error);
      const credential = address.value.headersOf(call.credential);
      if (!credential.ok) return refuseRequest(handler, credential.error);
      return client.send(requestTo(address.value, credential.value, call), handler);
    },
  };
}

function addressOf({ baseUrl, provider }: Channel): Result<Address, UpstreamFailure> {
  const url = URL.parse(baseUrl);
  if (url === null || url.username !== '' || url.password !== '') {
    return fail({
      kind: 'forbidden-address',
      detail: 'the base URL is no URL, or has user information in it',
    });
  }
  return succeed({
    origin: url.origin,
    basePath: url.pathname.replace(/\/$/, ''),
    headersOf: rememberHeaders(provider.credential),
  });
}

function rememberHeaders(scheme: CredentialScheme): Address['headersOf'] {
  const known = new Map<Credential | null, Result<readonly string[], UpstreamFailure>>();
  return (credential) => {
    const before = known.get(credential);
    if (before !== undefined) return before;
    const made = credentialHeaders(scheme, credential?.secret ?? null);
    const headers = made.ok ? made : fail<UpstreamFailure>({ kind: 'unreachable', detail: made.error });
    known.set(credential, headers);
    return headers;
  };
}

function requestTo(address: Address, credential: readonly string[], call: UpstreamCall): UpstreamRequest {
  const { channel, method, path, headers, body, fresh } = call;
  return {
    origin: address.origin,
    path: address.basePath + path,
    method,
    headers: withCredential(headers, credential),
    body,
    channelId: channel.id,
    allowPrivate: channel.allowPrivate,
    fresh,
  };
}
