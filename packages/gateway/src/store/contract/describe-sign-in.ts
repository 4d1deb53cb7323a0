import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredIdentity, StoredPasskey } from '../../ports/factors.ts';
import type { KnownPerson } from '../../ports/people.ts';
import type { Invitation } from '../../ports/person-links.ts';
import type { Store } from '../../ports/store.ts';
import { epochMs } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const passkey: StoredPasskey = {
  ...{ id: 'pk-1', personId: 'ann', credentialId: 'cred-1', name: 'Laptop', publicKey: 'AAAA', counter: 3 },
  ...{ transports: ['internal'], createdAtMs: epochMs, usedAtMs: null },
};
const identity: StoredIdentity = {
  ...{
    id: 'id-1',
    personId: 'ann',
    issuer: 'https://login.example.com',
    subject: 's-1',
    label: 'ann@example.com',
  },
  ...{ isManaged: false, createdAtMs: epochMs, usedAtMs: null },
};
const invitation: Invitation = {
  ...{ id: 'inv-1', email: 'eve@example.com', isOperator: false, accountId: 'account-1', role: 'member' },
  ...{ madeBy: 'Ann', madeAtMs: epochMs, expiresAtMs: epochMs + 1000, usedAtMs: null },
};

function newcomer(login: string): KnownPerson {
  return {
    ...{ id: `person-${login}`, login, name: login, isOperator: false, disabledAtMs: null, language: null },
    ...{ theme: null, createdAtMs: epochMs, memberships: [], passwordHash: null },
  };
}

/** The part of the suite about what people sign in with, and the links by which they come. */
export function describeSignIn(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  test('an authenticator app counts once it is confirmed, and a step of it is taken once', async () => {
    const { factors } = store;
    expect(await factors.proposeTotp({ personId: 'ann', keyId: 'k', sealed: 'first' })).toBe(true);
    expect(await factors.proposeTotp({ personId: 'ann', keyId: 'k', sealed: 'second' })).toBe(true);
    expect(await factors.takeTotpStep('ann', 7, null)).toBe(false);
    expect((await factors.factorsOf('ann')).hasTotp).toBe(false);
    expect(await factors.takeTotpStep('ann', 7, ['h1', 'h2'])).toBe(true);
    expect(await factors.factorsOf('ann')).toMatchObject({ hasTotp: true, recoveryCodesLeft: 2 });
    expect(await factors.findTotp('ann')).toMatchObject({ sealed: 'second', isConfirmed: true, lastStep: 7 });
    // Whoever holds a session may not put an app of their own in the place of one that counts.
    expect(await factors.proposeTotp({ personId: 'ann', keyId: 'k', sealed: 'third' })).toBe(false);
    expect(await factors.takeTotpStep('ann', 8, ['x'])).toBe(false);
    const taken = await Promise.all([8, 8, 8].map((step) => factors.takeTotpStep('ann', step, null)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await factors.takeTotpStep('ann', 7, null)).toBe(false);
    await factors.removeTotp('ann');
    expect(await factors.factorsOf('ann')).toMatchObject({ hasTotp: false, recoveryCodesLeft: 0 });
  });

  test('a recovery code is good once, for its person', async () => {
    const { factors } = store;
    await factors.replaceRecoveryCodes('ann', ['h1', 'h2']);
    expect(await factors.takeRecoveryCode('eve', ['h1'], epochMs)).toBe(false);
    const taken = await Promise.all(
      [1, 2, 3].map(() => factors.takeRecoveryCode('ann', ['old', 'h1'], epochMs)),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect((await factors.factorsOf('ann')).recoveryCodesLeft).toBe(1);
    await factors.replaceRecoveryCodes('ann', ['h3']);
    expect(await factors.takeRecoveryCode('ann', ['h2'], epochMs)).toBe(false);
  });

  test('a passkey belongs to one person, who alone renames and removes it', async () => {
    const { factors } = store;
    expect(await factors.addPasskey(passkey)).toBe(true);
    expect(await factors.addPasskey({ ...passkey, id: 'pk-2', personId: 'eve' })).toBe(false);
    expect(await factors.findPasskey('cred-1')).toEqual(passkey);
    await factors.notePasskeyUse('pk-1', 9, epochMs + 5);
    expect(await factors.renamePasskey('eve', 'pk-1', 'Mine')).toBe(false);
    expect(await factors.removePasskey('eve', 'pk-1')).toBe(false);
    expect(await factors.renamePasskey('ann', 'pk-1', 'Phone')).toBe(true);
    const changed = { ...passkey, name: 'Phone', counter: 9, usedAtMs: epochMs + 5 };
    expect((await factors.factorsOf('ann')).passkeys).toEqual([changed]);
    expect(await factors.removePasskey('ann', 'pk-1')).toBe(true);
    expect(await factors.findPasskey('cred-1')).toBeNull();
  });

  test('a person has twenty passkeys at the most', async () => {
    const add = (at: number) =>
      store.factors.addPasskey({ ...passkey, id: `pk-${at}`, credentialId: `cred-${at}` });
    for (let at = 0; at < 20; at++) expect(await add(at)).toBe(true);
    expect(await add(20)).toBe(false);
  });

  test('a subject of a provider is one person', async () => {
    const { factors } = store;
    expect(await factors.addIdentity(identity)).toBe(true);
    expect(await factors.addIdentity({ ...identity, id: 'id-2', personId: 'eve' })).toBe(false);
    await factors.noteIdentityUse('id-1', 'ann@new.example.com', epochMs + 1);
    expect(await factors.findIdentity(identity.issuer, 's-1')).toMatchObject({
      ...{ personId: 'ann', label: 'ann@new.example.com', usedAtMs: epochMs + 1 },
    });
    expect(await factors.findIdentity('https://other.example.com', 's-1')).toBeNull();
    expect(await factors.removeIdentity('eve', 'id-1')).toBe(false);
    expect(await factors.removeIdentity('ann', 'id-1')).toBe(true);
  });

  test('an invitation is taken once, before it is over, unless it was withdrawn', async () => {
    const { personLinks } = store;
    await personLinks.addInvitation(invitation, 'hash-1');
    await personLinks.addInvitation(
      { ...invitation, id: 'inv-2', isOperator: true, accountId: null, role: null },
      'hash-2',
    );
    expect(await personLinks.findInvitation(['hash-1'], epochMs)).toEqual(invitation);
    const accept = (login: string, hash: string, atMs = epochMs) =>
      personLinks.acceptAsNew(['old', hash], newcomer(login), atMs);
    expect(await accept('late', 'hash-1', epochMs + 1000)).toBe('gone');
    await personLinks.addInvitation({ ...invitation, id: 'inv-3' }, 'hash-3');
    const taken = await Promise.all(['one', 'two'].map((login) => accept(login, 'hash-3')));
    expect(taken.sort()).toEqual(['added', 'gone']);
    expect(await personLinks.findInvitation(['hash-3'], epochMs)).toBeNull();
    // Who cannot be added takes nothing.
    const known = (await store.people.list('all', 1, null))[0]?.login ?? '';
    expect(await accept(known, 'hash-1')).toBe('login-taken');
    expect((await personLinks.openInvitations('all', epochMs)).map(({ id }) => id).sort()).toEqual([
      'inv-1',
      'inv-2',
    ]);
    expect(await personLinks.openInvitations(['account-1'], epochMs)).toEqual([invitation]);
    expect(await personLinks.openInvitations(['account-2'], epochMs)).toEqual([]);
    expect(await personLinks.openInvitations([], epochMs)).toEqual([]);
    expect(await personLinks.withdrawInvitation('inv-1')).toBe(true);
    expect(await personLinks.withdrawInvitation('inv-1')).toBe(false);
    expect(await accept('nobody', 'hash-1')).toBe('gone');
    expect(await personLinks.acceptAsPerson(['hash-1'], 'ann', '', epochMs)).toBe(false);
  });

  test('a link for a password is the last one that was made, good once, and over in time', async () => {
    const { personLinks } = store;
    await personLinks.addPasswordLink('ann', 'hash-1', epochMs + 1000);
    await personLinks.addPasswordLink('ann', 'hash-2', epochMs + 1000);
    expect(await personLinks.takePasswordLink(['hash-1'], epochMs)).toBeNull();
    expect(await personLinks.findPasswordLink(['hash-2'], epochMs)).toBe('ann');
    expect(await personLinks.takePasswordLink(['hash-2'], epochMs + 1000)).toBeNull();
    expect(await personLinks.takePasswordLink(['hash-2'], epochMs)).toBe('ann');
    expect(await personLinks.takePasswordLink(['hash-2'], epochMs)).toBeNull();
  });

  test('nothing is left of what somebody signed in with who is no more', async () => {
    const { factors, personLinks } = store;
    await factors.proposeTotp({ personId: 'ann', keyId: 'k', sealed: 's' });
    await factors.takeTotpStep('ann', 1, ['h1']);
    await factors.addPasskey(passkey);
    await factors.addIdentity(identity);
    await personLinks.addPasswordLink('ann', 'hash', epochMs + 1000);
    await store.people.insert({ ...newcomer('ann'), id: 'ann' }, false);
    expect(await store.people.remove('ann')).toBe('removed');
    const nothing = { hasTotp: false, recoveryCodesLeft: 0, passkeys: [], identities: [] };
    expect(await factors.factorsOf('ann')).toEqual(nothing);
    expect(await factors.findTotp('ann')).toBeNull();
    expect(await personLinks.takePasswordLink(['hash'], epochMs)).toBeNull();
  });
}
