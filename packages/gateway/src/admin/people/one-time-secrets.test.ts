import { expect, test } from 'vitest';
import type { Peppers } from '../owner-files.ts';
import { makeLinkToken, makeRecoveryCodes, oneTimeHashes, readRecoveryCode } from './one-time-secrets.ts';

const pepper = (version: number) => ({ version, secret: new TextEncoder().encode(`${version}`.repeat(32)) });
const peppers: Peppers = [pepper(2), pepper(1)];

test('recovery codes are ten, all different, and read however they are written', () => {
  const codes = makeRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[2-9a-hjkmnp-z]{5}-[2-9a-hjkmnp-z]{5}$/);
    const plain = code.replace('-', '');
    for (const written of [code, plain, code.toUpperCase(), ` ${code} `, code.replace('-', ' ')])
      expect(readRecoveryCode(written)).toBe(plain);
  }
  for (const wrong of ['', '123456', 'abcde-fghi1', 'abcde-fghij-k'])
    expect(readRecoveryCode(wrong)).toBeNull();
});

test('a hash tells neither the secret nor that of another kind, and is looked for under every pepper', () => {
  const token = makeLinkToken();
  expect(token).toMatch(/^[\w-]{43}$/);
  const [newest, older] = oneTimeHashes(peppers, 'invitation', token);
  expect(newest).toMatch(/^[0-9a-f]{64}$/);
  expect(older).toBe(oneTimeHashes([pepper(1)], 'invitation', token)[0]);
  expect(oneTimeHashes(peppers, 'password-link', token)[0]).not.toBe(newest);
});
