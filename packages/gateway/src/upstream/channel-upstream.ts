import { fail, type Result, succeed } from '@headgate/protocols';
import type { Channel } from '../core/catalogue.ts';
import type { Upstream, UpstreamCall } from '../ports/upstream.ts';
import type { UpstreamClient, UpstreamFailure, UpstreamRequest } from '../ports/upstream-client.ts';
import { credentialHeaders, withCredential } from './credential.ts';
import { refuseRequest } from './refuse-request.ts';

/** A channel's base URL taken apart, and its credential as headers: worked out once per channel, not per call. */
interface Address {
  readonly origin: string;
  readonly basePath: string;
  readonly credential: readonly string[];
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
      return client.send(requestTo(address.value, call), handler);
    },
  };
}

function addressOf({ baseUrl, provider, credential }: Channel): Result<Address, UpstreamFailure> {
  const url = URL.parse(baseUrl);
  if (url === null || url.username !== '' || url.password !== '') {
    return fail({
      kind: 'forbidden-address',
      detail: 'the base URL is no URL, or has user information in it',
    });
  }
  const headers = credentialHeaders(provider.credential, credential);
  if (!headers.ok) return fail({ kind: 'unreachable', detail: headers.error });
  return succeed({
    origin: url.origin,
    basePath: url.pathname.replace(/\/$/, ''),
    credential: headers.value,
  });
}

function requestTo(address: Address, call: UpstreamCall): UpstreamRequest {
  const { channel, method, path, headers, body, fresh } = call;
  return {
    origin: address.origin,
    path: address.basePath + path,
    method,
    headers: withCredential(headers, address.credential),
    body,
    channelId: channel.id,
    allowPrivate: channel.allowPrivate,
    fresh,
  };
}
