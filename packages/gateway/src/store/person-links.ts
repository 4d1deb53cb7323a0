import { type Kysely, type Selectable, sql } from 'kysely';
import { type KnownPerson, roles } from '../ports/people.ts';
import type { Invitation } from '../ports/person-links.ts';
import { addPerson, findPerson, putRole } from './people.ts';
import type { Schema } from './schema.ts';
import { endSessions } from './session-ends.ts';
import type { InvitationsTable } from './sign-in-schema.ts';

/** Links that are over are kept for so long, for whoever asks why theirs does nothing; then they are nobody's. */
const keptMs = 30 * 86_400_000;

/** The links by which people come, in SQL. See `PersonLinkStore`. */
export class PersonLinkWriter {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async addInvitation(invitation: Invitation, hash: string): Promise<void> {
    const { id, email, isOperator, accountId, role, madeBy, madeAtMs, expiresAtMs } = invitation;
    await this.#database
      .deleteFrom('invitations')
      .where('expires_at_ms', '<', BigInt(madeAtMs - keptMs))
      .execute();
    await this.#database
      .insertInto('invitations')
      .values({
        ...{ id, hash, email, is_operator: isOperator ? 1n : 0n, account_id: accountId, role },
        ...{
          made_by: madeBy,
          made_at_ms: BigInt(madeAtMs),
          expires_at_ms: BigInt(expiresAtMs),
          used_at_ms: null,
        },
      })
      .execute();
  }

  async openInvitations(accounts: 'all' | readonly string[], nowMs: number): Promise<readonly Invitation[]> {
    const rows = await openIn(this.#database, nowMs)
      .$if(accounts !== 'all', (query) => query.where('account_id', 'in', accounts === 'all' ? [] : accounts))
      .orderBy('made_at_ms', 'desc')
      .limit(1_000)
      .execute();
    return rows.map(toInvitation);
  }

  async findInvitation(hashes: readonly string[], nowMs: number): Promise<Invitation | null> {
    const row = await openIn(this.#database, nowMs).where('hash', 'in', hashes).executeTakeFirst();
    return row === undefined ? null : toInvitation(row);
  }

  acceptAsNew(
    hashes: readonly string[],
    person: KnownPerson,
    nowMs: number,
  ): Promise<'added' | 'login-taken' | 'gone'> {
    return this.#database.transaction().execute(async (transaction) => {
      const found = await openIn(transaction, nowMs).where('hash', 'in', hashes).executeTakeFirst();
      if (found === undefined) return 'gone';
      if (!(await addPerson(transaction, person))) return 'login-taken';
      await take(transaction, found.id, nowMs);
      return 'added';
    });
  }

  acceptAsPerson(
    hashes: readonly string[],
    personId: string,
    keptSession: string,
    nowMs: number,
  ): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const found = await openIn(transaction, nowMs).where('hash', 'in', hashes).executeTakeFirst();
      const person = await findPerson(transaction, personId);
      if (found === undefined || person === null) return false;
      const { accountId, role, isOperator } = toInvitation(found);
      if (isOperator)
        await transaction
          .updateTable('persons')
          .set({ is_operator: 1n })
          .where('id', '=', personId)
          .execute();
      const held = person.memberships.find((each) => each.accountId === accountId)?.role;
      // An invitation takes nothing away.
      const isMore = role !== null && (held === undefined || roles.indexOf(held) < roles.indexOf(role));
      if (accountId !== null && isMore) await putRole(transaction, personId, accountId, role);
      await take(transaction, found.id, nowMs);
      await endSessions(transaction, personId, keptSession);
      return true;
    });
  }

  async withdrawInvitation(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('invitations')
      .where('id', '=', id)
      .where('used_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  addPasswordLink(personId: string, hash: string, expiresAtMs: number): Promise<void> {
    return this.#database.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('password_links').where('person_id', '=', personId).execute();
      await transaction
        .insertInto('password_links')
        .values({ hash, person_id: personId, expires_at_ms: BigInt(expiresAtMs) })
        .execute();
    });
  }

  async findPasswordLink(hashes: readonly string[], nowMs: number): Promise<string | null> {
    const row = await this.#database
      .selectFrom('password_links')
      .select('person_id')
      .where('hash', 'in', hashes)
      .where('expires_at_ms', '>', BigInt(nowMs))
      .executeTakeFirst();
    return row?.person_id ?? null;
  }

  async takePasswordLink(hashes: readonly string[], nowMs: number): Promise<string | null> {
    const row = await this.#database
      .deleteFrom('password_links')
      .where('hash', 'in', hashes)
      .where('expires_at_ms', '>', BigInt(nowMs))
      .returning('person_id')
      .executeTakeFirst();
    return row?.person_id ?? null;
  }

  async accountName(id: string): Promise<string | null> {
    const { rows } = await sql<{
      name: string;
    }>`select name from accounts where id = ${id} and removed = 0`.execute(this.#database);
    return rows[0]?.name ?? null;
  }
}

function openIn(database: Kysely<Schema>, nowMs: number) {
  return database
    .selectFrom('invitations')
    .selectAll()
    .where('used_at_ms', 'is', null)
    .where('expires_at_ms', '>', BigInt(nowMs));
}

async function take(transaction: Kysely<Schema>, id: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable('invitations')
    .set({ used_at_ms: BigInt(nowMs) })
    .where('id', '=', id)
    .execute();
}

function toInvitation(row: Selectable<InvitationsTable>): Invitation {
  const { id, email, role } = row;
  return {
    ...{
      id,
      email,
      isOperator: row.is_operator === 1n,
      accountId: row.account_id,
      role,
      madeBy: row.made_by,
    },
    ...{ madeAtMs: Number(row.made_at_ms), expiresAtMs: Number(row.expires_at_ms) },
    usedAtMs: row.used_at_ms === null ? null : Number(row.used_at_ms),
  };
}
