import type { Channel } from '../core/catalogue.ts';
import type { Upstream, UpstreamCall } from '../ports/upstream.ts';
import type { UpstreamClient, UpstreamRequest } from '../ports/upstream-client.ts';
import { credentialHeaders } from './credential.ts';

/** A channel's base URL taken apart, and its credential as headers: worked out once per channel, not per call. */
interface Address {
  readonly origin: string;
  readonly basePath: string;
  readonly credential: readonly string[];
}

/** Sends calls to channels: adds address and credential. */
export function openChannelUpstream(client: UpstreamClient): Upstream {
  // A channel is an immutable value of the catalogue: a changed one is another key, and the old one is collected.
  const addresses = new WeakMap<Channel, Address>();
  return {
    send(call, handler) {
      let address = addresses.get(call.channel);
      if (address === undefined) {
        address = addressOf(call.channel);
        addresses.set(call.channel, address);
      }
      return client.send(requestTo(address, call), handler);
    },
  };
}

function addressOf(channel: Channel): Address {
  const url = new URL(channel.baseUrl);
  return {
    origin: url.origin,
    basePath: url.pathname.replace(/\/$/, ''),
    credential: credentialHeaders(channel.provider.credential, channel.credential),
  };
}

function requestTo(
  address: Address,
  { channel, method, path, headers, body }: UpstreamCall,
): UpstreamRequest {
  return {
    origin: address.origin,
    path: address.basePath + path,
    method,
    headers: [...headers, ...address.credential],
    body,
    channelId: channel.id,
    allowPrivate: channel.allowPrivate,
  };
}
