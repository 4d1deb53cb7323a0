/** So many ids are remembered; about 150 bytes each. */
const answersMax = 50_000;
/** A longer id is none that could be handed back, and is not remembered. Characters. */
const idCharsMax = 256;

/** Who can go on from an answer: the account it was given to. */
export interface Keeper {
  readonly channelId: string;
  readonly accountKey: string;
}

/**
 * Which channel keeps what a request may go on from, by the upstream's id of it: an answer, or a container, conversation or
 * cache of a prefix. Such a request can only be understood there. What was never seen, is forgotten, or was given before
 * the process began, is looked for on every channel.
 */
export class AnswerMemory {
  readonly #keepers = new Map<string, Keeper>();

  note(answerId: string, keeper: Keeper): void {
    if (answerId.length > idCharsMax) return;
    this.#keepers.delete(answerId);
    this.#keepers.set(answerId, keeper);
    if (this.#keepers.size <= answersMax) return;
    for (const oldest of this.#keepers.keys()) {
      this.#keepers.delete(oldest);
      break;
    }
  }

  /** Null when nobody is known to keep it. */
  keeperOf(answerId: string | undefined): Keeper | null {
    return answerId === undefined ? null : (this.#keepers.get(answerId) ?? null);
  }

  /** Whether a request that goes on from this answer (absent: from none) may be sent to the channel. */
  allows(answerId: string | undefined, channelId: string): boolean {
    const keeper = this.keeperOf(answerId);
    return keeper === null || keeper.channelId === channelId;
  }
}
