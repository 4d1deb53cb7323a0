import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { placeAfterSignIn } from './sign-in-place.ts';

beforeEach(() => vi.stubGlobal('location', { origin: 'https://console.test' }));
afterEach(() => vi.unstubAllGlobals());

test.each([
  ['/ledger?model=a#b', '/ledger?model=a#b'],
  ['https://console.test/keys', '/'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['/\\evil.example/', '/'],
  ['/\t/evil.example/', '/'],
  ['/.//evil.example/', '/evil.example/'],
  ['/a/..//evil.example/', '/evil.example/'],
  ['javascript:alert(1)', '/'],
  ['', '/'],
  [undefined, '/'],
])('behind signing in, %j leads to %j', (next, place) => {
  expect(placeAfterSignIn(next)).toBe(place);
});
