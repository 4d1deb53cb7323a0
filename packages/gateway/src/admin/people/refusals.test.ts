import { expect, test } from 'vitest';
import type { AuditRow } from '../../ports/audit.ts';
import type { Store } from '../../ports/store.ts';
import { Refusals } from './refusals.ts';
import { newPerson } from './sign-in.ts';

const ada = newPerson({ login: 'ada@example.com', name: 'Ada' }, 0);

/** A store of Ada alone, with the rows that were written. */
function noting() {
  const rows: AuditRow[] = [];
  const store = {
    audit: { write: (row: AuditRow) => Promise.resolve(void rows.push(row)) },
    people: {
      findByLogin: (login: string) => Promise.resolve(login.toLowerCase() === ada.login ? ada : null),
    },
  };
  // A note asks for nothing else of a store.
  return { rows, refusals: new Refusals(store as unknown as Store, () => 0) };
}

const wrong = (login: string, address: string | null = '192.0.2.1') =>
  ({ kind: 'password', login, address }) as const;

test('the first refusal of a name and an address is noted at once, all others of the minute as their sum', async () => {
  const { rows, refusals } = noting();
  for (let n = 0; n < 1_000; n++) refusals.note(wrong('ada@example.com'), 'wrong');
  refusals.note(wrong('ADA@example.com', '198.51.100.7'), 'throttled');
  await refusals.settle();
  expect(rows.map(({ target, address, after }) => [target.name, address, after])).toEqual([
    ['Ada', '192.0.2.1', { how: 'password', reason: 'wrong', attempts: 1 }],
    ['Ada', '198.51.100.7', { how: 'password', reason: 'throttled', attempts: 1 }],
    ['Ada', '192.0.2.1', { how: 'password', reason: 'wrong', attempts: 999 }],
  ]);
});

test('a flood of names and addresses makes no more than a few rows in a minute', async () => {
  const { rows, refusals } = noting();
  for (let n = 0; n < 5_000; n++) refusals.note(wrong(`name-${n}`, `192.0.2.${n % 250}`), 'wrong');
  await refusals.settle();
  expect(rows.length).toBeLessThanOrEqual(22);
  const attempts = rows.map(({ after }) => Number(after?.['attempts']));
  expect(attempts.reduce((sum, each) => sum + each, 0)).toBe(5_000);
});

test('what stands in the place of a name is not written down where nobody has it', async () => {
  const { rows, refusals } = noting();
  refusals.note(wrong('my secret password'), 'wrong');
  await refusals.settle();
  expect(JSON.stringify(rows)).not.toContain('secret');
  expect(rows).toMatchObject([{ target: { kind: 'person', id: 'unknown', name: null } }]);
});
