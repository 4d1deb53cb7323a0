import type { Channel, Credential, Target } from '../catalogue/catalogue.ts';
import { elsewhereAfter, type Outcome, rowOf } from './outcomes.ts';
import type { Again, Progress, TooLong } from './route.ts';

/** A refusal that takes longer is an attempt like any other, and so is a connection that cannot be had. */
const quickMs = 1000;
/** An attempt that cost the caller next to nothing is charged so much of one. */
const quickUnits = 0.5;
/** Answers that ask for a second try elsewhere, and are believed when the second one says the same. */
const conflictsMax = 1;
/**
 * A call waits no longer than this for a channel that may be asked, all its waits together: a client that is told when to
 * come back does better than one that is held.
 */
const waitMsMax = 5000;

/** The end of one attempt, as its call counts it. */
export interface AttemptEnd {
  readonly target: Target;
  readonly outcome: Outcome;
  readonly durationMs: number;
}

/**
 * The accounting of one call (ADR 12): what it has asked, what that has cost of its attempts, and whether it may go on.
 * Production and simulation count with this same code. It knows no clock and no router.
 */
export class CallProgress {
  readonly #tried = new Set<string>();
  readonly #refused = new Set<Credential>();
  /** Ids of the channels that an attempt has ended on. */
  readonly #asked = new Set<string>();
  /** The credentials that attempts were sent with; the channels of those that were sent without. */
  readonly #senders = new Set<Credential | Channel>();
  readonly #repeatable: boolean;
  #attemptsLeft: number;
  #conflictsLeft = conflictsMax;
  #tooLong: TooLong | null = null;
  #waitMsLeft = waitMsMax;
  #last: AttemptEnd | null = null;

  /** `repeatable`: whether the work may be done twice. */
  constructor(attemptsMax: number, repeatable = true) {
    this.#attemptsLeft = attemptsMax;
    this.#repeatable = repeatable;
  }

  /** Credentials that are not used again for this call. */
  get refused(): ReadonlySet<Credential> {
    return this.#refused;
  }

  /** Tells if the budget allows an attempt beside one that is under way. */
  get mayHedge(): boolean {
    return this.#repeatable && this.#attemptsLeft > 1;
  }

  /** A target's turn has come: its channel is not asked again. */
  noteTurn({ channel }: Target): void {
    this.#tried.add(channel.id);
  }

  /** An attempt has ended. */
  noteEnd(attempt: AttemptEnd, credential: Credential | null): void {
    const { target, outcome } = attempt;
    const row = rowOf(outcome);
    this.#attemptsLeft -= this.#unitsOf(attempt, credential);
    this.#last = attempt;
    this.#asked.add(target.channel.id);
    if (row.elsewhere === 'larger') {
      const above = Math.max(this.#tooLong?.above ?? 0, target.contextWindow ?? 0);
      this.#tooLong = { above, unknownToo: this.#tooLong === null };
    }
    // No channel is asked twice for its own failures, but a refusal of one credential says nothing of the next one.
    if (credential === null || !row.otherCredential || target.channel.credentials.length < 2) return;
    this.#refused.add(credential);
    this.#tried.delete(target.channel.id);
  }

  /** An attempt that is refused at once costs the caller next to nothing: on another channel, but not on the same again. */
  #unitsOf({ target, outcome, durationMs }: AttemptEnd, credential: Credential | null): number {
    const sender = credential ?? target.channel;
    const isRepeat = this.#senders.has(sender);
    this.#senders.add(sender);
    return rowOf(outcome).cheap && durationMs < quickMs && !isRepeat ? quickUnits : 1;
  }

  /** There is room for another attempt, whatever the last one came to. */
  get hasAttempts(): boolean {
    return this.#attemptsLeft > 0;
  }

  /** Tells if another attempt may follow the one that ended last. Asked once for each. */
  mayGoOn(): boolean {
    if (this.#last === null) return true;
    if (this.#attemptsLeft <= 0) return false;
    const elsewhere = elsewhereAfter(this.#last.outcome, this.#repeatable);
    switch (elsewhere) {
      case 'yes':
      case 'larger':
        return true;
      case 'no':
        return false;
      case 'once':
        return this.#conflictsLeft-- > 0;
      default:
        return elsewhere satisfies never;
    }
  }

  /** As the router is told of it, for the next attempt. `isDue`: the call has waited for what is planned now. */
  forNext(isDue: boolean): Progress {
    const channelId = this.#last === null ? null : this.#onlyAsked(this.#last);
    const again: Again | null = this.#last === null || channelId !== null ? { channelId, isDue } : null;
    return { ...this.#asProgress(), again };
  }

  /** As the router is told of it, for an attempt beside one that is under way. */
  forHedge(): Progress {
    return { ...this.#asProgress(), attemptsLeft: this.#attemptsLeft - 1 };
  }

  /**
   * An attempt may wait for its even share of the time left, so that a silent channel leaves time for those after it: by how
   * many it is shared, where so many `others` may still be asked. Work that may be done once only is not waited for by others.
   */
  sharers(others: number): number {
    return this.#repeatable ? Math.min(Math.ceil(this.#attemptsLeft), others + 1) : 1;
  }

  mayWait(waitMs: number): boolean {
    return waitMs <= this.#waitMsLeft;
  }

  noteWait(waitMs: number): void {
    this.#waitMsLeft -= waitMs;
  }

  #asProgress(): Progress {
    return {
      tried: this.#tried,
      refused: this.#refused,
      tooLong: this.#tooLong,
      attemptsLeft: this.#attemptsLeft,
    };
  }

  /** The channel that may be asked again where there is no other; null when several were asked. */
  #onlyAsked({ target, outcome }: AttemptEnd): string | null {
    return rowOf(outcome).again && this.#asked.size === 1 ? target.channel.id : null;
  }
}
