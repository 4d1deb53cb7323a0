/** So many ids are remembered; about 150 bytes each. */
const answersMax = 50_000;
/** A longer id is none that could be handed back, and is not remembered. Characters. */
const idCharsMax = 256;

/**
 * Which channel keeps what a request may go on from, by the upstream's id of it: an answer, or a container, conversation or
 * cache of a prefix. Such a request can only be understood there. What was never seen, is forgotten, or was given before
 * the process began, is looked for on every channel.
 */
export class AnswerMemory {
  readonly #channels = new Map<string, string>();

  note(answerId: string, channelId: string): void {
    if (answerId.length > idCharsMax) return;
    this.#channels.delete(answerId);
    this.#channels.set(answerId, channelId);
    if (this.#channels.size <= answersMax) return;
    for (const oldest of this.#channels.keys()) {
      this.#channels.delete(oldest);
      break;
    }
  }

  /** Whether a request that goes on from this answer (absent: from none) may be sent to the channel. */
  allows(answerId: string | undefined, channelId: string): boolean {
    if (answerId === undefined) return true;
    const made = this.#channels.get(answerId);
    return made === undefined || made === channelId;
  }
}
