/**
 * Keys are `sk-` + 43 base62 digits (256 random bits) + 6 base62 digits of the CRC-32 of what precedes them, so that a
 * typo is refused without a look-up.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'sk-';
const secretDigits = 43;
const checksumDigits = 6;
const keyPattern = /^sk-[0-9A-Za-z]{49}$/;

/** Random bytes a key is made from. */
export const keyEntropyBytes = 32;

/** The key for 32 random bytes. Throws a RangeError on any other number of bytes: a shorter key would be weaker than it looks. */
export function formatKey(entropy: Uint8Array): string {
  if (entropy.length !== keyEntropyBytes) throw new RangeError(`a key needs ${keyEntropyBytes} random bytes`);
  const body = prefix + base62(bigEndian(entropy), secretDigits);
  return body + checksumOf(body);
}

/** Tells if the text has the shape and checksum of a key; says nothing about whether the key exists. */
export function isWellFormedKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  const body = text.slice(0, -checksumDigits);
  return checksumOf(body) === text.slice(-checksumDigits);
}

/** Enough of a key to recognise it in a list, too little to use or to guess it. */
export function keyHint(key: string): string {
  return `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`;
}

function checksumOf(body: string): string {
  return base62(BigInt(crc32(body)), checksumDigits);
}

function bigEndian(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function base62(number: bigint, digits: number): string {
  let text = '';
  for (let rest = number; text.length < digits; rest /= 62n)
    text = alphabet.charAt(Number(rest % 62n)) + text;
  return text;
}

/** CRC-32 (IEEE 802.3, reflected) of ASCII text, bit by bit: keys are short and a table would be module state. */
export function crc32(text: string): number {
  let remainder = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    remainder ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (0xedb88320 & -(remainder & 1));
  }
  return (remainder ^ 0xffffffff) >>> 0;
}
