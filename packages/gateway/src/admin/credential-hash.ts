import { createHmac } from 'node:crypto';
import type { Peppers } from './pepper.ts';

const hexDigits = 32;

/**
 * How what was learned of a credential is named where it is stored: HMAC-SHA256 under the newest pepper, cut to 128 bits.
 * The same in every process with these peppers; a credential that is replaced is another one.
 */
export function credentialHasher([newest]: Peppers): (secret: string) => string {
  return (secret) =>
    createHmac('sha256', newest.secret).update(`credential\n${secret}`).digest('hex').slice(0, hexDigits);
}
