import type { Fault, InboundRequest, Protocol, Result, Turn } from '@headgate/protocols';
import type { Ask } from '../core/route/router.ts';
import type { Inbound, Reply } from '../ports/data-plane.ts';
import type { Gateway } from './gateway.ts';
import type { KeepAlive } from './keep-alive.ts';
import type { MediaShelf } from './media-shelf.ts';

/** What every attempt of one call shares. Nothing in it changes from one attempt to the next. */
export interface Conversation {
  readonly gateway: Gateway;
  readonly protocol: Protocol;
  readonly inbound: Inbound;
  readonly request: InboundRequest;
  readonly ask: Ask;
  /** The request in no protocol's words, read when the first attempt needs it and kept for the others. */
  readonly turn: () => Result<Turn, Fault>;
  readonly media: MediaShelf;
  /** Whether nothing of the request may be lost in translation. */
  readonly strict: boolean;
  readonly reply: Reply;
  /** Null when the caller does not wait for a stream, or its surface has no word for it. */
  readonly keepAlive: KeepAlive | null;
  /** On the clock that never jumps: the end of the whole call. */
  readonly deadlineAt: number;
}

/** Whether the time of the whole call has run out, or the process may not wait any longer. */
export function isOver(conversation: Conversation): boolean {
  return isShutDown(conversation) || conversation.gateway.clock.monotonic() >= conversation.deadlineAt;
}

/** Whether the process has been told to stop: what runs may end, and nothing new is begun. */
export function isStopping({ gateway }: Conversation): boolean {
  return gateway.watchdog.endsAt < Number.POSITIVE_INFINITY;
}

/** Whether the process has been told to stop and its patience is over. */
export function isShutDown({ gateway }: Conversation): boolean {
  return gateway.clock.monotonic() >= gateway.watchdog.endsAt;
}
