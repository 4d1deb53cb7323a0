import { type Kysely, sql } from 'kysely';
import type { AccessChange, KnownPerson, PersonAccount, PersonPatch, Role } from '../ports/people.ts';
import type { PersonsTable, Schema } from './schema.ts';
import { endSessions } from './session-ends.ts';

export async function countPeople(database: Kysely<Schema>): Promise<number> {
  const row = await database
    .selectFrom('persons')
    .select((row) => row.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** See `PeopleStore.insert`. */
export function insertPerson(
  database: Kysely<Schema>,
  person: KnownPerson,
  onlyFirst: boolean,
): Promise<'added' | 'login-taken' | 'not-first'> {
  return database.transaction().execute(async (transaction) => {
    if (onlyFirst && (await countPeople(transaction)) > 0) return 'not-first';
    return (await addPerson(transaction, person)) ? 'added' : 'login-taken';
  });
}

/** False where somebody signs in by this name already. */
export async function addPerson(transaction: Kysely<Schema>, person: KnownPerson): Promise<boolean> {
  if (await isTaken(transaction, person.login, '')) return false;
  const { id, login, name, isOperator, disabledAtMs, language, theme, passwordHash, createdAtMs } = person;
  await transaction
    .insertInto('persons')
    .values({
      ...{ id, login, login_folded: folded(login), name, language, theme, password_hash: passwordHash },
      ...{ is_operator: isOperator ? 1n : 0n, created_at_ms: BigInt(createdAtMs) },
      disabled_at_ms: disabledAtMs === null ? null : BigInt(disabledAtMs),
    })
    .execute();
  for (const { accountId, role } of person.memberships)
    await transaction
      .insertInto('memberships')
      .values({ person_id: id, account_id: accountId, role })
      .execute();
  return true;
}

/** Logins are the same whatever their capitals. */
function folded(login: string): string {
  return login.normalize('NFKC').toLowerCase();
}

/** `exceptId` is nobody’s where somebody is added. */
async function isTaken(transaction: Kysely<Schema>, login: string, exceptId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom('persons')
    .select('id')
    .where('login_folded', '=', folded(login))
    .where('id', '!=', exceptId)
    .executeTakeFirst();
  return row !== undefined;
}

export function findPerson(database: Kysely<Schema>, id: string): Promise<KnownPerson | null> {
  return findBy(database, 'id', id);
}

export function findPersonByLogin(database: Kysely<Schema>, login: string): Promise<KnownPerson | null> {
  return findBy(database, 'login_folded', folded(login));
}

async function findBy(
  database: Kysely<Schema>,
  column: 'id' | 'login_folded',
  value: string,
): Promise<KnownPerson | null> {
  const row = await database.selectFrom('persons').selectAll().where(column, '=', value).executeTakeFirst();
  return row === undefined ? null : knownPerson(database, row);
}

/** The person of a row. A membership in an account that is gone is none. */
export async function knownPerson(database: Kysely<Schema>, row: PersonsTable): Promise<KnownPerson> {
  const memberships = await accountsOfPerson(database, row.id);
  return {
    ...{ id: row.id, login: row.login, name: row.name, language: row.language, theme: row.theme },
    isOperator: row.is_operator === 1n,
    disabledAtMs: row.disabled_at_ms === null ? null : Number(row.disabled_at_ms),
    createdAtMs: Number(row.created_at_ms),
    passwordHash: row.password_hash,
    memberships: memberships.map(({ id, role }) => ({ accountId: id, role })),
  };
}

export function accountsOfPerson(
  database: Kysely<Schema>,
  personId: string,
): Promise<readonly PersonAccount[]> {
  return sql<PersonAccount>`select accounts.id, accounts.name, memberships.role
    from memberships join accounts on accounts.id = memberships.account_id
    where memberships.person_id = ${personId} and accounts.removed = 0 order by accounts.name, accounts.id`
    .execute(database)
    .then(({ rows }) => rows);
}

/** See `PeopleStore.list`. */
export async function listPeople(
  database: Kysely<Schema>,
  accounts: 'all' | readonly string[],
  limit: number,
  after: string | null,
): Promise<readonly KnownPerson[]> {
  const theirs =
    accounts === 'all'
      ? sql`true`
      : sql`id in (select person_id from memberships where account_id in
          (select value from json_each(${JSON.stringify(accounts)})))`;
  const { rows } = await sql<PersonsTable>`select * from persons
    where ${theirs} and login_folded > ${after === null ? '' : folded(after)} order by login_folded limit ${limit}`.execute(
    database,
  );
  const people: KnownPerson[] = [];
  for (const row of rows) people.push(await knownPerson(database, row));
  return people;
}

/** See `PeopleStore.amend`. */
export function amendPerson(
  database: Kysely<Schema>,
  id: string,
  patch: PersonPatch,
): Promise<'changed' | 'login-taken' | 'unknown'> {
  return database.transaction().execute((transaction) => amend(transaction, id, patch));
}

async function amend(
  transaction: Kysely<Schema>,
  id: string,
  { login, isOperator, disabledAtMs, passwordHash, name, language, theme }: PersonPatch,
): Promise<'changed' | 'login-taken' | 'unknown'> {
  if (login !== undefined && (await isTaken(transaction, login, id))) return 'login-taken';
  const result = await transaction
    .updateTable('persons')
    .set({
      // Without a change there is nothing to set, and one column set to itself is none.
      id,
      ...(login === undefined ? {} : { login, login_folded: folded(login) }),
      ...(name === undefined ? {} : { name }),
      ...(language === undefined ? {} : { language }),
      ...(theme === undefined ? {} : { theme }),
      ...(isOperator === undefined ? {} : { is_operator: isOperator ? 1n : 0n }),
      ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
      ...(disabledAtMs === undefined
        ? {}
        : { disabled_at_ms: disabledAtMs === null ? null : BigInt(disabledAtMs) }),
    })
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows === 0n ? 'unknown' : 'changed';
}

/** See `PeopleStore.setMembership`. */
export function setMembership(
  database: Kysely<Schema>,
  personId: string,
  accountId: string,
  role: Role | null,
): Promise<boolean> {
  return database.transaction().execute((transaction) => putRole(transaction, personId, accountId, role));
}

/** Gives a person a role in an account, or takes it away. False when there is no such person or account. */
export async function putRole(
  transaction: Kysely<Schema>,
  personId: string,
  accountId: string,
  role: Role | null,
): Promise<boolean> {
  const { rows } = await sql<{ found: bigint }>`select (select count(*) from persons where id = ${personId})
    * (select count(*) from accounts where id = ${accountId} and removed = 0) as found`.execute(transaction);
  if (rows[0]?.found !== 1n) return false;
  await transaction
    .deleteFrom('memberships')
    .where('person_id', '=', personId)
    .where('account_id', '=', accountId)
    .execute();
  if (role !== null)
    await transaction
      .insertInto('memberships')
      .values({ person_id: personId, account_id: accountId, role })
      .execute();
  return true;
}

/** See `PeopleStore.changeAccess`. */
export function changeAccess(
  database: Kysely<Schema>,
  id: string,
  { isOperator, disabledAtMs, roles, keptSession }: AccessChange,
): Promise<'changed' | 'unknown' | 'last-operator'> {
  return database.transaction().execute(async (transaction) => {
    const person = await findPerson(transaction, id);
    if (person === null) return 'unknown';
    const isLess = isOperator === false || (disabledAtMs ?? null) !== null;
    if (isLess && (await isLastOperator(transaction, person))) return 'last-operator';
    await amend(transaction, id, {
      ...(isOperator === undefined ? {} : { isOperator }),
      ...(disabledAtMs === undefined ? {} : { disabledAtMs }),
    });
    for (const { accountId, role } of roles) await putRole(transaction, id, accountId, role);
    await endSessions(transaction, id, keptSession);
    return 'changed';
  });
}

/** True where nobody else who may sign in is an operator. */
async function isLastOperator(
  transaction: Kysely<Schema>,
  { id, isOperator }: KnownPerson,
): Promise<boolean> {
  if (!isOperator) return false;
  const other = await transaction
    .selectFrom('persons')
    .select('id')
    .where('id', '!=', id)
    .where('is_operator', '=', 1n)
    .where('disabled_at_ms', 'is', null)
    .executeTakeFirst();
  return other === undefined;
}

/** See `PeopleStore.remove`. */
export function removePerson(
  database: Kysely<Schema>,
  id: string,
): Promise<'removed' | 'unknown' | 'last-operator'> {
  return database.transaction().execute(async (transaction) => {
    const person = await findPerson(transaction, id);
    if (person === null) return 'unknown';
    if (await isLastOperator(transaction, person)) return 'last-operator';
    for (const table of [
      'totp',
      'recovery_codes',
      'passkeys',
      'person_identities',
      'password_links',
    ] as const)
      await transaction.deleteFrom(table).where('person_id', '=', id).execute();
    await transaction.deleteFrom('persons').where('id', '=', id).execute();
    return 'removed';
  });
}

/** See `PeopleStore.hasOtherAdmin`. */
export async function hasOtherAdmin(
  database: Kysely<Schema>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: bigint }>`select count(*) as found from memberships
    join persons on persons.id = memberships.person_id where memberships.account_id = ${accountId}
    and memberships.role = 'admin' and persons.id <> ${id} and persons.disabled_at_ms is null`.execute(
    database,
  );
  return (rows[0]?.found ?? 0n) > 0n;
}
