import { expect, test } from 'vitest';
import { addressRanges } from '../catalogue/address-range.ts';
import { CallerAddresses } from './caller-address.ts';

const proxies = ['10.0.0.0/8', 'fd00::1'];

function isRefused(ranges: readonly string[], peer: string | undefined, forwarded?: string): boolean {
  const addresses = new CallerAddresses(proxies);
  const source = { peer, header: () => forwarded };
  return addresses.refusal(ranges, source) !== null;
}

test.each([
  [['203.0.113.7'], '203.0.113.7', false],
  [['203.0.113.7'], '203.0.113.8', true],
  [['203.0.113.0/24'], '203.0.113.255', false],
  [['203.0.113.0/24'], '203.0.114.0', true],
  [['203.0.113.9/24'], '203.0.113.1', false],
  [['0.0.0.0/0'], '198.51.100.1', false],
  [['0.0.0.0/0'], '2001:db8::1', true],
  [['203.0.113.0/24'], '::ffff:203.0.113.7', false],
  [['2001:db8::/32'], '2001:db8:1::5', false],
  [['2001:db8::/32'], '2001:db9::5', true],
  [['2001:db8::5'], '2001:0db8:0:0:0:0:0:5', false],
  [['fe80::/10'], 'fe80::1%eth0', false],
  [['203.0.113.7', '2001:db8::/32'], '2001:db8::9', false],
  [['203.0.113.7'], undefined, true],
  [['203.0.113.7'], 'nowhere', true],
] as const)('a key of %j at %s: refused %s', (ranges, peer, refused) => {
  expect(isRefused(ranges, peer)).toBe(refused);
});

test.each([
  ['a stranger’s header says nothing', '198.51.100.1', '203.0.113.7', true],
  ['a proxy tells who called it', '10.0.0.1', '203.0.113.7', false],
  ['a proxy that says nothing is the caller itself', '10.0.0.1', undefined, true],
  ['what the caller wrote before it is not believed', '10.0.0.1', '203.0.113.7, 198.51.100.1', true],
  ['proxies behind each other are gone through', '::ffff:10.0.0.1', '1.2.3.4, 203.0.113.7, 10.0.0.9', false],
  ['a proxy of the other family as well', 'fd00::1', '203.0.113.7', false],
  ['a port is left away', '10.0.0.1', '203.0.113.7:4711', false],
  ['what is no address is nobody’s', '10.0.0.1', '203.0.113.7, unknown', true],
  ['an empty place as well', '10.0.0.1', '203.0.113.7, ,', true],
  ['a list without end is read from its end', '10.0.0.1', `${'203.0.113.7,'.repeat(5000)}203.0.113.7`, false],
])('%s', (_, peer, forwarded, refused) => {
  expect(isRefused(['203.0.113.7'], peer, forwarded)).toBe(refused);
});

test('the refusal names the address that was seen', () => {
  const addresses = new CallerAddresses(proxies);
  const refusal = addresses.refusal(['203.0.113.7'], { peer: '10.0.0.1', header: () => '[2001:db8::7]:443' });
  expect(refusal).toMatchObject({ code: 'address_not_allowed', status: 403 });
  expect(refusal?.message).toContain('2001:db8::7');
});

test.each([
  ['203.0.113.7', true],
  ['203.0.113.0/32', true],
  ['2001:db8::/128', true],
  ['::1', true],
  ['203.0.113.0/33', false],
  ['203.0.113/24', false],
  ['2001:db8::/129', false],
  ['fe80::1%eth0', false],
  ['example.com', false],
  ['', false],
])('%s is an address or a range: %s', (text, isOne) => {
  expect(addressRanges.safeParse([text]).success).toBe(isOne);
});
