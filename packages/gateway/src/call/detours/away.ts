import {
  countElements,
  type Fault,
  fail,
  fault,
  type Result,
  succeed,
  Translation,
  type WrittenTurn,
} from '@headgate/protocols';
import type { Wire } from '../../catalogue/wire.ts';
import type { Guard } from '../../ports/clock.ts';
import { uncountedBytesMax } from '../../ports/data-plane.ts';
import type { TranslatedAway } from '../../ports/gateway.ts';
import { crowded } from '../../route/faults.ts';
import type { Call } from '../request.ts';
import type { MediaShelf } from './media.ts';
import {
  contextOf,
  type Encoded,
  encodedFrom,
  encodeTranslated,
  holdsRequest,
  holdsTurn,
  releaseRequest,
  waysOf,
} from './translate.ts';

/** A longer body is translated in another thread, with all that was fetched for it. Bytes. */
const nearBytesMax = 128 * 1024;
/** So is a shorter one of more parts: each takes about a microsecond. */
const nearElementsMax = 5_000;

/** To read it as a whole would hold the event loop. */
export function isLong(body: Uint8Array): boolean {
  return (
    body.length > nearBytesMax ||
    (body.length > uncountedBytesMax && countElements(body, nearElementsMax) > nearElementsMax)
  );
}

/** Nothing is left of the call's time, and its translation has not come. */
class Patience implements Guard {
  index = -1;
  readonly expiresAt: number;
  readonly onExpire: () => void;

  constructor(expiresAt: number, onExpire: () => void) {
    this.expiresAt = expiresAt;
    this.onExpire = onExpire;
  }
}

const crowdedThread = fault('overloaded', { retryAfterMs: 1000 });

/** Translates the requests of one call: here where that is quick, and in another thread where it would hold the event loop. */
export class TranslationDesk {
  readonly #call: Call;
  /** Also set once it has been translated elsewhere: nothing is left here to translate it from. */
  #isLong: boolean;
  /** Why a translation elsewhere has not come in the call's time; null where all have. */
  fault: Fault | null = null;
  /** By the first way to a target, what came of translating for it elsewhere. */
  readonly #orders = new Map<Wire, readonly Wire[]>();
  readonly #written = new Map<Wire, Result<WrittenTurn, Fault>>();

  constructor(call: Call) {
    this.#call = call;
    this.#isLong = isLong(call.inbound.body);
  }

  /** True when the target cannot be asked before `translate` has called back; a `way` to it where its ways are known. */
  isDue(wire: Wire, shelf: MediaShelf | null, way: Wire | null = null): boolean {
    if (!this.#isFar(shelf) || this.#call.turn?.ok === false) return false;
    if (way === null) return !this.#orders.has(wire);
    return !this.#written.has(way) && (shelf?.faultFor(way) ?? null) === null;
  }

  /**
   * Translates for all ways to a target, or for one of them, and calls back, not within this call, when that is done or the call's
   * time is over.
   * @returns lets go of it: then `done` is not called.
   */
  translate(wire: Wire, shelf: MediaShelf | null, way: Wire | null, done: () => void): () => void {
    const { gateway, inbound, protocol, caller } = this.#call;
    this.#isLong = true;
    const ways = way === null ? wire.ways : [way];
    const { work, path, params, search } = inbound;
    const job = {
      surface: protocol.id,
      input: { work, path, params, search },
      ways: ways.map(({ protocol: { id }, asked }) => ({ protocol: id, target: asked })),
      fetched: shelf?.fetched ?? new Map(),
      context: contextOf(this.#call),
    };
    const leave = gateway.translator.translate(caller.accountId, job, inbound.body, (result) => {
      gateway.watchdog.release(patience);
      this.#note(wire, ways, way, result);
      done();
    });
    const patience = new Patience(this.#call.deadlineAt, () => {
      leave();
      this.fault = crowdedThread;
      done();
    });
    gateway.watchdog.watch(patience);
    return () => {
      gateway.watchdog.release(patience);
      leave();
    };
  }

  /** In the order in which they are to be tried. */
  waysOf(wire: Wire): readonly Wire[] {
    return this.#orders.get(wire) ?? waysOf(this.#call, wire);
  }

  /** The request for a target of another protocol. A fault where it cannot be told it: another one may be. */
  encode(way: Wire, shelf: MediaShelf | null): Result<Encoded, Fault> {
    const { turn } = this.#call;
    if (!this.#isFar(shelf) || turn === null || !turn.ok) return encodeTranslated(this.#call, way, shelf);
    const unfetched = shelf?.faultFor(way) ?? null;
    if (unfetched !== null) return fail(unfetched);
    const written = this.#written.get(way);
    // It is for one attempt; the next one's is made anew.
    this.#written.delete(way);
    if (written === undefined) return fail(fault('internal'));
    if (!written.ok) return written;
    const { codec } = this.#call.protocol;
    const upstream = way.protocol.codec;
    if (codec === null || upstream === null) return fail(fault('internal'));
    if (!holdsRequest(this.#call)) return fail(crowded());
    const context = { ...contextOf(this.#call), turn: turn.value };
    const translation = new Translation({ caller: codec, upstream }, way.asked, written.value, context);
    const encoded = encodedFrom(this.#call, translation);
    if (!encoded.ok) releaseRequest(this.#call);
    return encoded;
  }

  #isFar(shelf: MediaShelf | null): boolean {
    return this.#isLong || this.#call.inbound.body.length + (shelf?.bytes ?? 0) > nearBytesMax;
  }

  #note(wire: Wire, ways: readonly Wire[], way: Wire | null, result: TranslatedAway | null): void {
    const { codec } = this.#call.protocol;
    if (codec === null) return;
    if (result === null || !result.ok) {
      this.#call.turn = fail(result?.error ?? crowdedThread);
      return;
    }
    const { turn, order, written } = result.value;
    if (!holdsTurn(this.#call)) {
      this.#call.turn = fail(crowded());
      return;
    }
    this.#call.turn = succeed({ ...turn, surface: codec.surface });
    this.#call.turnKept.isWhole = false;
    const ordered = order.flatMap((place) => ways[place] ?? []);
    if (way === null) this.#orders.set(wire, ordered);
    for (const { place, result: each } of written) {
      const of = ways[place];
      if (of !== undefined) this.#written.set(of, each);
    }
    // It was asked for by name and needs something that nobody could fetch.
    if (way !== null && !this.#written.has(way)) this.#written.set(way, fail(fault('internal')));
  }
}
