import { expect, test } from 'vitest';
import { TestAuthenticator } from './authenticator.fixture.ts';
import { askForPasskey, askWhoIsThere, passkeyHost, provePasskey, readNewPasskey } from './passkeys.ts';
import { Tickets } from './tickets.ts';

const clock = { nowMs: 1_000_000, now: () => clock.nowMs, monotonic: () => 0 };
const tickets = new Tickets({ version: 1, secret: new Uint8Array(32) }, clock);
const place = { origin: 'https://console.example.com', deployment: 'Gate', tickets };
const ann = { id: 'person-ann', name: 'Ann', email: 'ann@example.com' };

async function registered(authenticator = new TestAuthenticator()) {
  const { options, ticket } = await askForPasskey(place, ann, []);
  const made = await readNewPasskey(place, ann.id, ticket, authenticator.make(options, place.origin));
  if (!made.ok) throw new Error(made.error);
  return { authenticator, passkey: made.value };
}

test('a passkey is made and proven, with its count', async () => {
  const { authenticator, passkey } = await registered();
  expect(passkey).toMatchObject({
    credentialId: authenticator.credentialId.toString('base64url'),
    counter: 0,
  });
  for (const count of [1, 2]) {
    const { options, ticket } = await askWhoIsThere(place);
    const proof = authenticator.prove(options, place.origin);
    expect(await provePasskey(place, ticket, proof, { ...passkey, counter: count - 1 })).toEqual({
      ok: true,
      value: count,
    });
    // What was answered once is answered.
    expect(await provePasskey(place, ticket, proof, passkey)).toMatchObject({ ok: false });
  }
});

test('a passkey that another authenticator has, or an older copy of this one, proves nothing', async () => {
  const { authenticator, passkey } = await registered();
  const { options, ticket } = await askWhoIsThere(place);
  const stranger = new TestAuthenticator().prove(options, place.origin);
  const claimed = { ...stranger, id: passkey.credentialId, rawId: passkey.credentialId };
  expect(await provePasskey(place, ticket, claimed, passkey)).toMatchObject({ ok: false });
  const again = await askWhoIsThere(place);
  const proof = authenticator.prove(again.options, place.origin);
  expect(await provePasskey(place, again.ticket, proof, { ...passkey, counter: 7 })).toMatchObject({
    ok: false,
  });
});

test.each([
  ['another origin', { origin: 'https://evil.example.com', host: 'console.example.com' }],
  ['another host', { host: 'evil.example.com' }],
  ['a port of its own', { origin: 'https://console.example.com:444' }],
  ['nobody who has proven themself', { flags: 0x01 }],
])(
  'a proof for %s is refused',
  async (_, { origin = place.origin, ...how }: { origin?: string; host?: string; flags?: number }) => {
    const { authenticator, passkey } = await registered();
    const { options, ticket } = await askWhoIsThere(place);
    const proof = authenticator.prove(options, origin, { host: 'console.example.com', ...how });
    expect(await provePasskey(place, ticket, proof, passkey)).toMatchObject({ ok: false });
  },
);

test('an answer to another question is refused, and so is a ticket of another person or one that is over', async () => {
  const { authenticator, passkey } = await registered();
  const [first, second] = [await askWhoIsThere(place), await askWhoIsThere(place)];
  const proof = authenticator.prove(first.options, place.origin);
  expect(await provePasskey(place, second.ticket, proof, passkey)).toMatchObject({ ok: false });
  const { options, ticket } = await askForPasskey(place, ann, []);
  const made = new TestAuthenticator().make(options, place.origin);
  expect(await readNewPasskey(place, 'person-eve', ticket, made)).toMatchObject({ ok: false });
  const late = await askForPasskey(place, ann, []);
  clock.nowMs += 300_000;
  const response = new TestAuthenticator().make(late.options, place.origin);
  expect(await readNewPasskey(place, ann.id, late.ticket, response)).toMatchObject({ ok: false });
});

test('garbage in the place of an answer is refused, and breaks nothing', async () => {
  const { passkey } = await registered();
  for (const response of [
    {},
    { id: 'x' },
    { id: 'x', rawId: 'x', type: 'public-key', response: { clientDataJSON: 'é' } },
  ]) {
    const { ticket } = await askWhoIsThere(place);
    // @ts-expect-error What a browser sends is anything.
    expect(await provePasskey(place, ticket, response, passkey)).toMatchObject({ ok: false });
  }
});

test.each([
  ['https://console.example.com:8443', 'console.example.com'],
  ['http://localhost:8081', 'localhost'],
  ['http://console.example.com', null],
  ['https://127.0.0.1:8081', null],
  ['https://[::1]:8081', null],
])('the passkeys of %s are for %s', (origin, host) => {
  expect(passkeyHost(origin)).toBe(host);
});
