import type { Fault, Reading } from '@headgate/protocols';
import type { CallEntry } from '../../ports/ledger.ts';

/** An answer under way that takes from a hold. */
export interface HeldStream {
  readonly reading: Reading | null;
  /** Tokens that a model which thinks unseen has most likely written by now. */
  readonly producedTokens: number;
  /** Reads nothing more of it for now, or goes on. */
  holdBack(isHeldBack: boolean): void;
  /** Ends it for its caller, who may have no more. */
  endAtLimit(reason: Fault): void;
}

/** A call's part of its caller's limits, as the rest of the call knows it; see `CallHold`. */
export interface HeldPart {
  /** The owners from whose leases its charge is taken, for its entry. */
  readonly leased: number;
  /** The stream takes from it until it is let go of. */
  follow(stream: HeldStream): void;
  letGo(stream: HeldStream): void;
  /** The words of a stream that broke off are sold together with what another one says next. */
  goOn(stream: HeldStream): void;
  /** More of the stream has come. */
  noteBytes(stream: HeldStream): void;
  /** Gives back what was not used, once: all of it without an entry, or for one that is not billed. Never throws. */
  settle(entry: CallEntry | null): void;
}
