import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkLiteralAddress,
  ForbiddenAddressError,
  guardedLookup,
  isPublicAddress,
  type Resolve,
  systemResolve,
} from './address-guard.ts';

const publicAddresses: readonly LookupAddress[] = [
  { address: '93.184.216.34', family: 4 },
  { address: '2606:4700::1111', family: 6 },
];

const resolveTo =
  (addresses: readonly LookupAddress[]): Resolve =>
  (_, done) =>
    done(null, addresses);

function look(resolve: Resolve, all: boolean): Promise<unknown[]> {
  return new Promise((answer) =>
    guardedLookup(resolve)('name.example', { all }, (...given) => answer(given)),
  );
}

test('public addresses are handed on in the order of the resolver', async () => {
  expect(await look(resolveTo(publicAddresses), true)).toEqual([null, publicAddresses]);
  expect(await look(resolveTo(publicAddresses), false)).toEqual([null, '93.184.216.34', 4]);
});

test.each(['127.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254'])(
  '%s anywhere among the addresses refuses the name',
  async (address) => {
    const resolve = resolveTo([...publicAddresses, { address, family: address.includes(':') ? 6 : 4 }]);
    expect((await look(resolve, true))[0]).toBeInstanceOf(ForbiddenAddressError);
    expect((await look(resolve, false))[0]).toBeInstanceOf(ForbiddenAddressError);
  },
);

test('a failed or empty resolution is an error, not a refusal', async () => {
  const failure = new Error('no such name');
  expect((await look((_, done) => done(failure, []), true))[0]).toBe(failure);
  const [empty] = await look(resolveTo([]), true);
  expect(empty).toBeInstanceOf(Error);
  expect(empty).not.toBeInstanceOf(ForbiddenAddressError);
});

test('a connection asks once, and goes nowhere but where the answer said', async () => {
  const answers = [publicAddresses, [{ address: '127.0.0.1', family: 4 }]];
  let asked = 0;
  const resolve: Resolve = (_, done) => done(null, answers[asked++] ?? []);
  const tried: string[] = [];
  const socket = connect({ host: 'rebinding.example', port: 9, lookup: guardedLookup(resolve) });
  socket.on('error', () => {});
  socket.on('connectionAttempt', (address: string) => tried.push(address));
  await new Promise(setImmediate);
  socket.destroy();
  expect(asked).toBe(1);
  expect(tried.every((address) => publicAddresses.some((known) => known.address === address))).toBe(true);
});

test('a literal address is judged, a name is not', () => {
  expect(checkLiteralAddress('127.0.0.1')).toBeInstanceOf(ForbiddenAddressError);
  expect(checkLiteralAddress('93.184.216.34')).toBeNull();
  expect(checkLiteralAddress('localhost')).toBeNull();
});

test("the system's resolver failing is an error, not an exception nobody catches", async () => {
  // Too long for a name: refused without asking anyone.
  const hostname = 'x'.repeat(300);
  const [error] = await new Promise<unknown[]>((answer) =>
    guardedLookup(systemResolve)(hostname, { all: true }, (...given) => answer(given)),
  );
  expect(error).toBeInstanceOf(Error);
});

test.each([
  ['0/8', '0.0.0.0', '0.255.255.255'],
  ['10/8', '10.0.0.0', '10.255.255.255'],
  ['100.64/10', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.169.254'],
  ['172.16/12', '172.16.0.0', '172.31.255.255'],
  ['192.0.0/24', '192.0.0.0', '192.0.0.255'],
  ['192.168/16', '192.168.0.0', '192.168.255.255'],
  ['198.18/15', '198.18.0.0', '198.19.255.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.255'],
  ['unspecified', '::', '0:0:0:0:0:0:0:0'],
  ['IPv6 loopback', '::1', '0:0:0:0:0:0:0:1'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 link-local', 'fe80::', 'febf:ffff::1'],
  ['link-local with a zone', 'fe80::1%eth0', 'fe80::1%2'],
  ['site-local', 'fec0::', 'feff::1'],
  ['IPv6 multicast', 'ff00::', 'ff02::1'],
  ['mapped', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['mapped, written out', '0:0:0:0:0:ffff:10.0.0.1', '0000:0000:0000:0000:0000:FFFF:0a00:0001'],
  ['compatible', '::10.0.0.1', '::a00:1'],
  ['translated', '::ffff:0:10.0.0.1', '::ffff:0:a00:1'],
  ['NAT64', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe'],
  ['NAT64 of a local network', '64:ff9b:1::', '64:ff9b:1:ffff::8.8.8.8'],
  ['6to4', '2002:7f00:1::', '2002:c0a8:101::1'],
  ['Teredo by its client', '2001:0:808:808::80ff:fffe', '2001:0:808:808:0:0:f5ff:fffe'],
  ['Teredo by its server', '2001:0:7f00:1::f7f7:f7f7', '2001:0:a00:1::f7f7:f7f7'],
  ['no address', 'localhost', ''],
  ['not quite an address', '1.2.3', '::1::'],
])('%s is not public: %s, %s', (_, first, last) => {
  expect(isPublicAddress(first)).toBe(false);
  expect(isPublicAddress(last)).toBe(false);
});

test.each([
  ['1.0.0.0', '9.255.255.255'],
  ['11.0.0.0', '100.63.255.255'],
  ['100.128.0.0', '126.255.255.255'],
  ['128.0.0.0', '169.253.255.255'],
  ['169.255.0.0', '172.15.255.255'],
  ['172.32.0.0', '191.255.255.255'],
  ['192.0.1.0', '192.167.255.255'],
  ['192.169.0.0', '198.17.255.255'],
  ['198.20.0.0', '223.255.255.255'],
  ['2606:4700::1111', '2a00:1450:4001:800::200e'],
  ['2001:4860:4860::8888', '2003::1'],
  ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  ['2002:808:808::1', '2001:0:808:808::f7f7:f7f7'],
  ['fbff::1', 'fe00::1'],
])('%s and %s are public', (first, last) => {
  expect(isPublicAddress(first)).toBe(true);
  expect(isPublicAddress(last)).toBe(true);
});

test('an IPv4 address is judged the same wherever an IPv6 address carries it', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const expected = isPublicAddress(address);
      expect(isPublicAddress(`::ffff:${address}`)).toBe(expected);
      expect(isPublicAddress(`64:ff9b::${address}`)).toBe(expected);
    }),
  );
});
