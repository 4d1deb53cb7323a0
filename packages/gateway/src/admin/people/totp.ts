import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** RFC 6238 with the numbers that every authenticator app takes for granted: SHA-1, six digits, thirty seconds. */
const stepMs = 30_000;
const digits = 6;
const secretBytes = 20;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret in base32 (RFC 4648), as apps and people write it. */
export function makeTotpSecret(): string {
  return encodeBase32(randomBytes(secretBytes));
}

/** The form in which an app reads a secret from a picture. */
export function totpUri(secret: string, deployment: string, login: string): string {
  const label = `${encodeURIComponent(deployment)}:${encodeURIComponent(login)}`;
  const issuer = encodeURIComponent(deployment);
  return `otpauth://totp/${label}?secret=${secret}&issuer=${issuer}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`;
}

/** The code of a step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step that a moment is in. */
export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / stepMs);
}

/**
 * The step that a code is of: now, or one to either side, for clocks differ. Null when it is of none of them, or of one at or before
 * `lastStep`: a code that was looked over a shoulder is good for nothing once it has been used (RFC 6238, section 5.2).
 */
export function matchTotp(
  secret: string,
  code: string,
  nowMs: number,
  lastStep: number | null,
): number | null {
  const given = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(given)) return null;
  const now = totpStep(nowMs);
  const matching = [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(given)),
  );
  return matching === undefined || matching <= (lastStep ?? -1) ? null : matching;
}

function encodeBase32(bytes: Uint8Array): string {
  let [bits, value, text] = [0, 0, ''];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31] ?? '';
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (alphabet[(value << (5 - bits)) & 31] ?? '');
}

function decodeBase32(text: string): Buffer {
  let [bits, value] = [0, 0];
  const bytes: number[] = [];
  for (const letter of text) {
    value = (value << 5) | alphabet.indexOf(letter);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
