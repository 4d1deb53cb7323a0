import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Webhook } from '../catalogue/webhooks.ts';

/** Secrets of earlier snapshots that are still kept out of logs: calls that began with them may still be under way. */
const formerMax = 1000;

/** Words that must never appear in a log, whoever writes them there. */
export class LiveSecrets {
  readonly #words = new Set<string>();

  take({ channels }: Pick<Catalogue, 'channels'>, webhooks: readonly Webhook[]): ReadonlySet<string> {
    const current = new Set(webhooks.flatMap(({ secrets }) => secrets.map(({ secret }) => secret)));
    for (const { credentials, secrets } of channels.values()) {
      for (const { secret } of credentials) current.add(secret);
      for (const secret of secrets) current.add(secret);
    }
    for (const secret of current) {
      this.#words.delete(secret);
      this.#words.add(secret);
    }
    for (const oldest of this.#words) {
      if (this.#words.size <= current.size + formerMax) break;
      this.#words.delete(oldest);
    }
    return this.#words;
  }
}
