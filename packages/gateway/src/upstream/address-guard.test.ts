import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import {
  checkLiteralAddress,
  ForbiddenAddressError,
  guardedLookup,
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
