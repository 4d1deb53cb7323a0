import { type Kysely, type Selectable, sql } from 'kysely';
import type { KnownPerson, PersonSession, SessionProof } from '../ports/people.ts';
import { knownPerson } from './people.ts';
import type { Schema, SessionsTable } from './schema.ts';

/** A person is signed in at so many places; the oldest ones give way. */
const sessionsMax = 50;

/** See `PeopleStore.openSession`. */
export function openSession(
  database: Kysely<Schema>,
  session: PersonSession,
  secretHash: string,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const { id, personId, createdAtMs, lastSeenAtMs, expiresAtMs, provenAtMs, how, userAgent, address } =
      session;
    await transaction.deleteFrom('sessions').where('expires_at_ms', '<=', BigInt(createdAtMs)).execute();
    await sql`delete from sessions where id in (select id from sessions where person_id = ${personId}
      order by created_at_ms desc limit -1 offset ${sessionsMax - 1})`.execute(transaction);
    await transaction
      .insertInto('sessions')
      .values({
        ...{ id, secret_hash: secretHash, person_id: personId, how, user_agent: userAgent, address },
        ...{ created_at_ms: BigInt(createdAtMs), last_seen_at_ms: BigInt(lastSeenAtMs) },
        ...{ expires_at_ms: BigInt(expiresAtMs), proven_at_ms: BigInt(provenAtMs) },
      })
      .execute();
  });
}

/** See `PeopleStore.findSession`. */
export async function findSession(
  database: Kysely<Schema>,
  secretHash: string,
  nowMs: number,
  seenSinceMs: number,
): Promise<{ readonly session: PersonSession; readonly person: KnownPerson } | null> {
  const row = await database
    .selectFrom('sessions')
    .selectAll()
    .where('secret_hash', '=', secretHash)
    .where('expires_at_ms', '>', BigInt(nowMs))
    .where('last_seen_at_ms', '>', BigInt(seenSinceMs))
    .executeTakeFirst();
  if (row === undefined) return null;
  const person = await database
    .selectFrom('persons')
    .selectAll()
    .where('id', '=', row.person_id)
    .where('disabled_at_ms', 'is', null)
    .executeTakeFirst();
  return person === undefined
    ? null
    : { session: toSession(row), person: await knownPerson(database, person) };
}

function toSession(row: Selectable<SessionsTable>): PersonSession {
  return {
    ...{ id: row.id, personId: row.person_id, how: row.how, userAgent: row.user_agent, address: row.address },
    ...{ createdAtMs: Number(row.created_at_ms), lastSeenAtMs: Number(row.last_seen_at_ms) },
    ...{ expiresAtMs: Number(row.expires_at_ms), provenAtMs: Number(row.proven_at_ms) },
  };
}

export async function seeSession(database: Kysely<Schema>, id: string, atMs: number): Promise<void> {
  await database
    .updateTable('sessions')
    .set({ last_seen_at_ms: BigInt(atMs) })
    .where('id', '=', id)
    .where('last_seen_at_ms', '<', BigInt(atMs))
    .execute();
}

/** See `PeopleStore.rotateSession`. */
export async function rotateSession(
  database: Kysely<Schema>,
  id: string,
  secretHash: string,
  proof: SessionProof | null,
): Promise<boolean> {
  const result = await database
    .updateTable('sessions')
    .set({
      secret_hash: secretHash,
      ...(proof === null ? {} : { proven_at_ms: BigInt(proof.atMs), how: proof.how }),
    })
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function listSessions(
  database: Kysely<Schema>,
  personId: string,
  nowMs: number,
  seenSinceMs: number,
): Promise<readonly PersonSession[]> {
  const rows = await database
    .selectFrom('sessions')
    .selectAll()
    .where('person_id', '=', personId)
    .where('expires_at_ms', '>', BigInt(nowMs))
    .where('last_seen_at_ms', '>', BigInt(seenSinceMs))
    .orderBy('created_at_ms', 'desc')
    .execute();
  return rows.map(toSession);
}
