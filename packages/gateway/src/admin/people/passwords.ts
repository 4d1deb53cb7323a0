import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** The work that one hash is. */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** The second recommendation of RFC 9106, in one lane: a guess costs this much memory and a tenth of a second. */
const usualCost: PasswordCost = { memoryKiB: 65_536, passes: 3 };

const saltBytes = 16;
const hashBytes = 32;
/** The pages of the console hold the same number. */
export const passwordLengthMin = 10;
const lengthMax = 200;
/** Hashes that wait for their turn; sign-ins are throttled long before. */
const waitingMax = 64;

/** Too many passwords wait to be looked at. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy';
}

/** Says why a text cannot be a password; null where it can. Length is what makes one hard to guess, so nothing else is asked for. */
export function passwordMistake(text: string, login: string): string | null {
  const length = [...text.normalize('NFKC')].length;
  if (length < passwordLengthMin)
    return `must be of ${passwordLengthMin} characters or more: several words make a good one`;
  if (length > lengthMax) return `must be of ${lengthMax} characters at the most`;
  if (text.toLowerCase() === login.toLowerCase()) return 'must not be the name that you sign in with';
  return new Set(text).size < 4 ? 'must not be a few characters over and over' : null;
}

/**
 * Hashes of passwords by argon2id, with their parameters in the text, so that these may grow. One is made at a time, in the runtime's
 * pool: the others of its threads go on writing the journal.
 */
export class Passwords {
  readonly #cost: PasswordCost;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(cost: PasswordCost = usualCost) {
    this.#cost = cost;
  }

  /** `$argon2id$v=19$m=65536,t=3,p=1$SALT$HASH` */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    const { memoryKiB, passes } = this.#cost;
    const hash = await this.#derive(password, salt, this.#cost);
    return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=1$${encoded(salt)}$${encoded(hash)}`;
  }

  /** Takes as long where there is no hash, so that nobody learns who has one. */
  async verify(password: string, stored: string | null): Promise<boolean> {
    const parsed = stored === null ? null : parseHash(stored);
    const { salt, hash, cost } = parsed ?? { salt: Buffer.alloc(saltBytes), hash: null, cost: this.#cost };
    const derived = await this.#derive(password, salt, cost);
    return hash !== null && derived.length === hash.length && timingSafeEqual(derived, hash);
  }

  /** Tells of a hash that was made with less work than is usual now. */
  isOld(stored: string): boolean {
    const cost = parseHash(stored)?.cost;
    return cost?.memoryKiB !== this.#cost.memoryKiB || cost.passes !== this.#cost.passes;
  }

  #derive(password: string, salt: Uint8Array, { memoryKiB, passes }: PasswordCost): Promise<Buffer> {
    if (this.#waiting >= waitingMax) throw new PasswordsBusy('too many passwords wait to be looked at');
    this.#waiting += 1;
    const work = () =>
      new Promise<Buffer>((resolve, reject) => {
        const message = Buffer.from(password.normalize('NFKC'));
        const parameters = { message, nonce: salt, parallelism: 1, memory: memoryKiB, passes };
        argon2('argon2id', { ...parameters, tagLength: hashBytes }, (error, hash) =>
          error === null ? resolve(hash) : reject(error),
        );
      });
    const turn = this.#last.then(work, work).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

function encoded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}

function parseHash(stored: string) {
  const [, memory, passes, salt = '', hash = ''] =
    /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=1\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? [];
  if (hash === '') return null;
  const cost = { memoryKiB: Number(memory), passes: Number(passes) };
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}
