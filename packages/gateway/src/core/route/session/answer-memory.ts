/** So many ids are remembered; about 150 bytes each. */
const answersMax = 50_000;
/** A longer id is none that could be handed back, and is not remembered. Characters. */
const idCharsMax = 256;

/** Where an answer can be gone on from, and by whom. */
export interface Keeper {
  readonly channelId: string;
  /** Of the upstream's account that it was given to. */
  readonly accountKey: string;
  /** The account of ours that it was given to, or that named it first; null for nobody's. */
  readonly ownerId: string | null;
}

/**
 * Which channel keeps what a request may go on from, by the upstream's id of it: an answer, or a container, conversation or
 * cache of a prefix. Such a request can only be understood there. What was never seen, is forgotten, or was given before
 * the process began, is looked for on every channel.
 *
 * Many accounts of ours share one of an upstream's, which lets any of them go on from what it keeps. So each id has an
 * owner: nobody else can go on from it, or become its owner.
 */
export class AnswerMemory {
  readonly #keepers = new Map<string, Keeper>();

  note(answerId: string, keeper: Keeper): void {
    if (answerId.length > idCharsMax || this.isForeign(answerId, keeper.ownerId)) return;
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

  /** Whether somebody else than this account may go on from it. Of what nobody is known to keep it is not known. */
  isForeign(answerId: string | undefined, accountId: string | null): boolean {
    const keeper = this.keeperOf(answerId);
    return keeper !== null && keeper.ownerId !== accountId;
  }

  /** Whether a request that goes on from this answer (absent: from none) may be sent to the channel. */
  allows(answerId: string | undefined, channelId: string): boolean {
    const keeper = this.keeperOf(answerId);
    return keeper === null || keeper.channelId === channelId;
  }
}
