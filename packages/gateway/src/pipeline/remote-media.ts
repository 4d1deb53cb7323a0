import {
  type Fault,
  fail,
  type Result,
  remoteMediaOf,
  succeed,
  type Turn,
  upstreamProtocolOf,
} from '@headgate/protocols';
import type { Target } from '../core/catalogue.ts';
import type { Conversation } from './conversation.ts';

/**
 * Fetches what the request names by URL and the target wants to be handed. Null, and not a promise, when there is nothing
 * to be fetched: then an attempt begins at once. A fault where something cannot be had: another target may not need it.
 */
export function fetchMedia(conversation: Conversation, target: Target): Promise<Fault | null> | null {
  const wanted = wantedMedia(conversation, target);
  if (!wanted.ok || wanted.value.urls.length === 0) return null;
  const known = conversation.media.faultOf(wanted.value.urls);
  return known === null ? fetchForCaller(conversation, wanted.value) : Promise.resolve(known);
}

/** Whether something would have to be fetched before this target could be asked. */
export function lacksMedia(conversation: Conversation, target: Target): boolean {
  const wanted = wantedMedia(conversation, target);
  return wanted.ok && wanted.value.urls.length > 0;
}

/** For a caller who has gone nothing is fetched any more. */
async function fetchForCaller(
  { gateway, media, reply, deadlineAt }: Conversation,
  { turn, urls }: WantedMedia,
): Promise<Fault | null> {
  const hangUp = new AbortController();
  reply.listener = { onCallerGone: () => hangUp.abort(), onCallerWritable: () => {} };
  if (reply.gone) hangUp.abort();
  const unfetched = await media.fetch(turn, urls, deadlineAt - gateway.clock.monotonic(), hangUp.signal);
  reply.listener = null;
  return unfetched;
}

interface WantedMedia {
  readonly turn: Turn;
  readonly urls: readonly string[];
}

/** A request that cannot be read is refused where its lane is chosen. */
function wantedMedia(
  { protocol, gateway, turn, media }: Conversation,
  target: Target,
): Result<WantedMedia, null> {
  const id = upstreamProtocolOf(protocol.id, target.channel.provider.protocols);
  const codec = id === null || id === protocol.id ? null : (gateway.protocols[id]?.codec ?? null);
  if (codec === null || protocol.codec === null) return fail(null);
  const read = turn();
  if (!read.ok) return fail(null);
  const urls = remoteMediaOf(read.value, codec.mediaByUrl).filter((url) => media.lacks(url));
  return succeed({ turn: read.value, urls });
}
