import { expect, test } from 'vitest';
import { Tickets } from './tickets.ts';

const pepper = { version: 1, secret: new TextEncoder().encode('p'.repeat(32)) };

function ticketsAt(start = 1_000_000) {
  const clock = { nowMs: start, now: () => clock.nowMs, monotonic: () => 0 };
  return { clock, tickets: new Tickets(pepper, clock) };
}

test('a ticket gives its content back once', () => {
  const { tickets } = ticketsAt();
  const ticket = tickets.issue('passkey-sign-in', { personId: 'ann' });
  expect(tickets.read('passkey-sign-in', ticket)).toMatchObject({ personId: 'ann' });
  expect(tickets.spend('passkey-sign-in', ticket)).toMatchObject({ personId: 'ann' });
  expect(tickets.read('passkey-sign-in', ticket)).toBeNull();
  expect(tickets.spend('passkey-sign-in', ticket)).toBeNull();
  // Another spelling of the same bytes is the same ticket.
  for (const spelled of [`${ticket}=`, `${ticket}==`, ` ${ticket}`])
    expect(tickets.spend('passkey-sign-in', spelled)).toBeNull();
});

test('a ticket is of one kind, shows nothing of its content, and no letter of it may change', () => {
  const { tickets } = ticketsAt();
  const ticket = tickets.issue('passkey-sign-in', { personId: 'ann' });
  expect(tickets.read('oidc', ticket)).toBeNull();
  expect(Buffer.from(ticket, 'base64url').toString('latin1')).not.toContain('ann');
  for (let at = 0; at < ticket.length - 1; at++) {
    const changed = ticket.slice(0, at) + (ticket[at] === 'A' ? 'B' : 'A') + ticket.slice(at + 1);
    expect(tickets.read('passkey-sign-in', changed)).toBeNull();
  }
  for (const nothing of ['', 'x', 'a'.repeat(37), 'ü'])
    expect(tickets.read('passkey-sign-in', nothing)).toBeNull();
});

test('a ticket is over after five minutes, also one that another process with the same pepper has made', () => {
  const { tickets } = ticketsAt();
  const ticket = tickets.issue('oidc', { nonce: 'n' });
  expect(ticketsAt(1_000_000 + 299_999).tickets.read('oidc', ticket)).toMatchObject({ nonce: 'n' });
  expect(ticketsAt(1_000_000 + 300_000).tickets.read('oidc', ticket)).toBeNull();
});
