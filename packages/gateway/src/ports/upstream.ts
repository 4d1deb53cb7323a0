import type { Channel, Credential } from '../core/catalogue.ts';
import type { UpstreamExchange, UpstreamHandler } from './upstream-client.ts';

/** A request to a channel as the pipeline knows it: what to say, not how the channel is reached. */
export interface UpstreamCall {
  readonly channel: Channel;
  /** One of the channel's; null where it needs none. */
  readonly credential: Credential | null;
  readonly method: 'GET' | 'POST';
  /** Appended to the channel's base URL. */
  readonly path: string;
  /** Name, value, name, value …, in lower case; neither credential nor host nor length. */
  readonly headers: readonly string[];
  /** In pieces, end to end; none for a request without a body. */
  readonly body: readonly Uint8Array[];
  /** See `UpstreamRequest`. */
  readonly fresh: boolean;
}

/** The way to channels: adds address and credential, then sends. */
export interface Upstream {
  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamExchange;
}
