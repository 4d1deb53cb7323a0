import { expect, test } from 'vitest';
import { makeTotpSecret, matchTotp, totpCode, totpStep, totpUri } from './totp.ts';

/** The secret of RFC 6238, appendix B, `12345678901234567890`, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

// The appendix has eight digits; six are the last of them.
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at second %i is %s, as in RFC 6238', (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1000))).toBe(code);
  expect(matchTotp(secret, code, seconds * 1000, null)).toBe(Math.floor(seconds / 30));
});

const now = 1_111_111_111_000;

test('a clock may be off by one step, and not by two', () => {
  const step = totpStep(now);
  for (const off of [-1, 0, 1])
    expect(matchTotp(secret, totpCode(secret, step + off), now, null)).toBe(step + off);
  for (const off of [-2, 2]) expect(matchTotp(secret, totpCode(secret, step + off), now, null)).toBeNull();
});

test('a code that has been used is refused, and so is one of an earlier step', () => {
  const step = totpStep(now);
  expect(matchTotp(secret, totpCode(secret, step), now, step)).toBeNull();
  expect(matchTotp(secret, totpCode(secret, step - 1), now, step)).toBeNull();
  expect(matchTotp(secret, totpCode(secret, step + 1), now, step)).toBe(step + 1);
});

test('a code may be written with a gap, and nothing else is a code', () => {
  const code = totpCode(secret, totpStep(now));
  expect(matchTotp(secret, `${code.slice(0, 3)} ${code.slice(3)}`, now, null)).not.toBeNull();
  for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６', "1' OR"])
    expect(matchTotp(secret, wrong, now, null)).toBeNull();
});

test('secrets are of 160 random bits, and come back from base32', () => {
  const made = Array.from({ length: 50 }, makeTotpSecret);
  expect(new Set(made).size).toBe(50);
  for (const one of made) expect(one).toMatch(/^[A-Z2-7]{32}$/);
});

test('an app reads who and where it is for, whatever their names have in them', () => {
  const uri = new URL(totpUri(secret, 'Gate: A&B', 'ann@example.com?x=1'));
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(uri.pathname)).toBe('/Gate: A&B:ann@example.com?x=1');
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret, issuer: 'Gate: A&B', period: '30' });
});
