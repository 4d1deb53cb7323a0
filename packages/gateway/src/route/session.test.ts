import type { SessionClue } from '@headgate/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionIdentity } from './session.ts';

interface Said {
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clue?: SessionClue | null;
}

function identityOf({ account = 'acme', headers = {}, clue = null }: Said): string | null {
  const source = { accountId: account, header: (name: string) => headers[name], sessionClue: () => clue };
  return sessionIdentity(source);
}

const clueOf = (kind: SessionClue['kind'], fingerprint = 1): SessionClue => ({ kind, fingerprint });
const own = { 'x-headgate-session': 'mine' };
const agents = { 'session-id': 'theirs' };

describe('what is said first counts', () => {
  const opening = clueOf('opening');
  const ladder: readonly Said[] = [
    { headers: { ...own, ...agents }, clue: clueOf('conversation') },
    { headers: agents, clue: clueOf('conversation') },
    { headers: agents, clue: clueOf('person') },
    { headers: agents, clue: opening },
    { clue: opening },
    {},
  ];

  test('each by itself', () => {
    const identities = ladder.map(identityOf);
    expect(new Set(identities).size).toBe(ladder.length);
    expect(identities.at(-1)).toBeNull();
  });

  test.each<[string, Said, Said]>([
    ['the header of ours', { headers: own }, { headers: { ...own, ...agents }, clue: clueOf('person', 7) }],
    [
      'a name in the body',
      { clue: clueOf('person') },
      { headers: { ...agents, 'x-session-id': 'x' }, clue: clueOf('person') },
    ],
    ['the header of an agent', { headers: agents }, { headers: agents, clue: clueOf('opening', 9) }],
    [
      'the narrower header of two',
      { headers: { 'thread-id': 't' } },
      { headers: { ...agents, 'thread-id': 't' } },
    ],
  ])('%s, whatever comes after it', (_, alone, among) => {
    expect(identityOf(among)).toBe(identityOf(alone));
  });

  test('and an empty header says nothing', () => {
    const headers = { 'x-headgate-session': ' ', 'session-id': '' };
    expect(identityOf({ headers, clue: opening })).toBe(identityOf({ clue: opening }));
  });
});

test('sessions of two accounts never meet, whatever is said', () => {
  const said = fc.record({
    headers: fc.dictionary(fc.constantFrom('x-headgate-session', 'session-id'), fc.string()),
    clue: fc.option(
      fc.record({
        kind: fc.constantFrom<SessionClue['kind'][]>('conversation', 'person', 'opening'),
        fingerprint: fc.maxSafeNat(),
      }),
    ),
  });
  fc.assert(
    fc.property(said, said, fc.uuid(), fc.uuid(), (one, other, account, another) => {
      fc.pre(account !== another);
      const identity = identityOf({ ...one, account });
      expect(identity).toBe(identityOf({ ...one, account }));
      if (identity !== null) expect(identity).not.toBe(identityOf({ ...other, account: another }));
    }),
  );
});

test('it is short and does not tell the name, however long that is', () => {
  const name = `someone@example.test ${'x'.repeat(16_000)}`;
  const identity = identityOf({ headers: { 'x-headgate-session': name } });
  expect(identity?.length).toBeLessThan(40);
  expect(identity).not.toContain('someone');
  expect(identity).not.toBe(identityOf({ headers: { 'x-headgate-session': `${name}y` } }));
});

test('the body is not read where a header of ours names the session', () => {
  const sessionClue = () => {
    throw new Error('read for nothing');
  };
  expect(
    sessionIdentity({ accountId: 'acme', header: (name) => (name in own ? 'mine' : undefined), sessionClue }),
  ).not.toBeNull();
});
