import type { Catalogue } from '../catalogue/catalogue.ts';

/** Secrets of earlier snapshots that are still kept out of logs: calls that began with them may still be under way. */
const secretsMax = 1000;

/** Words that must never appear in a log, whoever writes them there. */
export class LiveSecrets {
  readonly #words = new Set<string>();

  take(catalogue: Catalogue): ReadonlySet<string> {
    for (const { credentials, secrets } of catalogue.channels.values()) {
      for (const secret of [...credentials.map((each) => each.secret), ...secrets]) {
        this.#words.delete(secret);
        this.#words.add(secret);
      }
    }
    for (const oldest of this.#words) {
      if (this.#words.size <= secretsMax) break;
      this.#words.delete(oldest);
    }
    return this.#words;
  }
}
