import type { Facts } from '@headgate/protocols';
import type { Wire } from '../../catalogue/wire.ts';
import type { HangUpPlaces, ReadOn } from '../../ports/gateway.ts';
import type { RoutedAttempt } from '../../route/route.ts';

/** Tells if a model may think unseen: by what is known of it and asked of it, or by what its answers have counted. */
export function mayThinkUnseen(
  { reasons }: Wire,
  { hasReasoned }: RoutedAttempt,
  { thought }: Facts,
): boolean {
  return reasons[thought ?? 'silent'] || hasReasoned;
}

/**
 * Tells if an answer is read on to its usage when its caller leaves (docs/billing.md, "Hang-ups"). `hasContent`: of what it has
 * said the caller has got something.
 */
export function isReadOn(wire: Wire, routed: RoutedAttempt, facts: Facts, hasContent: boolean): boolean {
  switch (wire.target.channel.hangUp) {
    case 'always':
      return true;
    case 'drain':
      return hasContent;
    case 'estimate':
      return false;
    case null:
      return hasContent && mayThinkUnseen(wire, routed, facts);
  }
}

/** The answers that are read on without their callers. Each takes an upstream's connection, so their number has a bound. */
export class HangUps implements HangUpPlaces {
  readonly #answersMax: number;
  readonly #answers = new Set<ReadOn>();
  #isClosed = false;

  constructor(answersMax: number) {
    this.#answersMax = answersMax;
  }

  begin(answer: ReadOn): boolean {
    if (this.#isClosed || this.#answers.size >= this.#answersMax) return false;
    this.#answers.add(answer);
    return true;
  }

  end(answer: ReadOn): void {
    this.#answers.delete(answer);
  }

  /** Lets go of all of them: each is billed by what has come of it. */
  close(): void {
    this.#isClosed = true;
    for (const answer of [...this.#answers]) answer.letGo('caller-gone');
  }
}
