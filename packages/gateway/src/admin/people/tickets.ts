import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { Pepper } from '../owner-files.ts';

/** The steps of a sign-in that end in a later request. */
export type TicketKind = 'totp' | 'passkey-sign-in' | 'passkey-registration' | 'oidc';

const nonceBytes = 12;
const tagBytes = 16;
/** People look for their phone meanwhile. */
const goodForMs = 5 * 60_000;
/** Tickets that were used are remembered until they would be over; this many come through no throttle in that time. */
const spentMax = 100_000;

/**
 * A step of a sign-in leaves for the next one what it needs, sealed and handed to the browser: whoever begins a thousand sign-ins takes no memory
 * here, and forgets nobody else's. A ticket is good for some minutes, for one kind of step, and once. Its key follows from the pepper, so a
 * gateway that goes on for another one takes that one's tickets.
 */
export class Tickets {
  readonly #key: Uint8Array;
  readonly #clock: Clock;
  /** By nonce, with the moment they would be over; oldest first. */
  readonly #spent = new Map<string, number>();

  constructor(pepper: Pepper, clock: Clock) {
    this.#key = new Uint8Array(hkdfSync('sha256', pepper.secret, '', 'headgate console tickets', 32));
    this.#clock = clock;
  }

  issue(kind: TicketKind, content: Readonly<Record<string, unknown>>): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(kind));
    const text = JSON.stringify({ ...content, overAtMs: this.#clock.now() + goodForMs });
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return sealed.toString('base64url');
  }

  /** The content of a ticket of this kind, without spending it; null when it is not ours, of another kind, used or over. */
  read(kind: TicketKind, ticket: string): Readonly<Record<string, unknown>> | null {
    const bytes = Buffer.from(ticket, 'base64url');
    if (bytes.length < nonceBytes + tagBytes || this.#spent.has(nameOf(bytes))) return null;
    const content = this.#open(kind, bytes);
    return content === null || !(Number(content['overAtMs']) > this.#clock.now()) ? null : content;
  }

  /** The same, and it is good no more. */
  spend(kind: TicketKind, ticket: string): Readonly<Record<string, unknown>> | null {
    const content = this.read(kind, ticket);
    if (content === null) return null;
    for (const [name, overAtMs] of this.#spent) {
      if (overAtMs > this.#clock.now() && this.#spent.size < spentMax) break;
      this.#spent.delete(name);
    }
    this.#spent.set(nameOf(Buffer.from(ticket, 'base64url')), Number(content['overAtMs']));
    return content;
  }

  #open(kind: TicketKind, bytes: Buffer): Readonly<Record<string, unknown>> | null {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    try {
      decipher.setAAD(Buffer.from(kind)).setAuthTag(bytes.subarray(-tagBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      return JSON.parse(text.toString('utf8')) as Readonly<Record<string, unknown>>;
    } catch {
      return null;
    }
  }
}

/** Base64url has several spellings of the same bytes: the bytes name a ticket. */
function nameOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, nonceBytes);
}
