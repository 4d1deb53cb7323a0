import type { Kysely, Selectable } from 'kysely';
import type { Factors, StoredIdentity, StoredPasskey, StoredTotp } from '../ports/factors.ts';
import type { Schema } from './schema.ts';
import type { PasskeysTable, PersonIdentitiesTable } from './sign-in-schema.ts';

/** More than anybody has; each is asked for by browsers when another one is made. */
const passkeysMax = 20;

/** The things that people sign in with, in SQL. See `FactorStore`. */
export class FactorWriter {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async factorsOf(personId: string): Promise<Factors> {
    const totp = await this.findTotp(personId);
    const codes = await this.#database
      .selectFrom('recovery_codes')
      .select('hash')
      .where('person_id', '=', personId)
      .where('used_at_ms', 'is', null)
      .execute();
    const passkeys = await this.#database
      .selectFrom('passkeys')
      .selectAll()
      .where('person_id', '=', personId)
      .orderBy('created_at_ms')
      .execute();
    const identities = await this.#database
      .selectFrom('person_identities')
      .selectAll()
      .where('person_id', '=', personId)
      .orderBy('created_at_ms')
      .execute();
    return {
      hasTotp: totp?.isConfirmed ?? false,
      recoveryCodesLeft: codes.length,
      passkeys: passkeys.map(toPasskey),
      identities: identities.map(toIdentity),
    };
  }

  async findTotp(personId: string): Promise<StoredTotp | null> {
    const row = await this.#database
      .selectFrom('totp')
      .selectAll()
      .where('person_id', '=', personId)
      .executeTakeFirst();
    if (row === undefined) return null;
    return {
      ...{ personId, keyId: row.key_id, sealed: row.sealed, isConfirmed: row.is_confirmed === 1n },
      lastStep: row.last_step === null ? null : Number(row.last_step),
    };
  }

  async proposeTotp({
    personId,
    keyId,
    sealed,
  }: Pick<StoredTotp, 'personId' | 'keyId' | 'sealed'>): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await this.#database
      .insertInto('totp')
      .values({ person_id: personId, key_id: keyId, sealed, is_confirmed: 0n, last_step: null })
      .onConflict((conflict) =>
        conflict
          .column('person_id')
          .doUpdateSet({ key_id: keyId, sealed, last_step: null })
          .where('totp.is_confirmed', '=', 0n),
      )
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
  }

  takeTotpStep(personId: string, step: number, recoveryHashes: readonly string[] | null): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('totp')
        .set({ last_step: BigInt(step), is_confirmed: 1n })
        .where('person_id', '=', personId)
        .where('is_confirmed', '=', recoveryHashes === null ? 1n : 0n)
        .where((row) => row.or([row('last_step', 'is', null), row('last_step', '<', BigInt(step))]))
        .executeTakeFirstOrThrow();
      if (numUpdatedRows > 0n && recoveryHashes !== null)
        await replaceCodes(transaction, personId, recoveryHashes);
      return numUpdatedRows > 0n;
    });
  }

  removeTotp(personId: string): Promise<void> {
    return this.#database.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('totp').where('person_id', '=', personId).execute();
      await replaceCodes(transaction, personId, []);
    });
  }

  replaceRecoveryCodes(personId: string, hashes: readonly string[]): Promise<void> {
    return this.#database.transaction().execute((transaction) => replaceCodes(transaction, personId, hashes));
  }

  async takeRecoveryCode(personId: string, hashes: readonly string[], nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('recovery_codes')
      .set({ used_at_ms: BigInt(nowMs) })
      .where('person_id', '=', personId)
      .where('hash', 'in', hashes)
      .where('used_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  async findPasskey(credentialId: string): Promise<StoredPasskey | null> {
    const row = await this.#database
      .selectFrom('passkeys')
      .selectAll()
      .where('credential_id', '=', credentialId)
      .executeTakeFirst();
    return row === undefined ? null : toPasskey(row);
  }

  addPasskey(passkey: StoredPasskey): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { personId, credentialId } = passkey;
      const known = await transaction
        .selectFrom('passkeys')
        .select('credential_id')
        .where((row) => row.or([row('person_id', '=', personId), row('credential_id', '=', credentialId)]))
        .execute();
      const isKnown = known.some((row) => row.credential_id === credentialId);
      if (isKnown || known.length >= passkeysMax) return false;
      await transaction
        .insertInto('passkeys')
        .values({
          ...{ id: passkey.id, person_id: personId, credential_id: credentialId, name: passkey.name },
          ...{ public_key: passkey.publicKey, counter: BigInt(passkey.counter), used_at_ms: null },
          ...{ transports: JSON.stringify(passkey.transports), created_at_ms: BigInt(passkey.createdAtMs) },
        })
        .execute();
      return true;
    });
  }

  async notePasskeyUse(id: string, counter: number, nowMs: number): Promise<void> {
    const set = { counter: BigInt(counter), used_at_ms: BigInt(nowMs) };
    await this.#database.updateTable('passkeys').set(set).where('id', '=', id).execute();
  }

  async renamePasskey(personId: string, id: string, name: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('passkeys')
      .set({ name })
      .where('person_id', '=', personId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  removePasskey(personId: string, id: string): Promise<boolean> {
    return this.#remove('passkeys', personId, id);
  }

  async findIdentity(issuer: string, subject: string): Promise<StoredIdentity | null> {
    const row = await this.#database
      .selectFrom('person_identities')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .executeTakeFirst();
    return row === undefined ? null : toIdentity(row);
  }

  async addIdentity(identity: StoredIdentity): Promise<boolean> {
    const { id, personId, issuer, subject, label } = identity;
    const { numInsertedOrUpdatedRows = 0n } = await this.#database
      .insertInto('person_identities')
      .values({
        ...{ id, person_id: personId, issuer, subject, label, is_managed: identity.isManaged ? 1n : 0n },
        ...{ created_at_ms: BigInt(identity.createdAtMs), used_at_ms: null },
      })
      .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
  }

  async noteIdentityUse(id: string, label: string, nowMs: number): Promise<void> {
    const set = { label, used_at_ms: BigInt(nowMs) };
    await this.#database.updateTable('person_identities').set(set).where('id', '=', id).execute();
  }

  removeIdentity(personId: string, id: string): Promise<boolean> {
    return this.#remove('person_identities', personId, id);
  }

  async #remove(table: 'passkeys' | 'person_identities', personId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom(table)
      .where('person_id', '=', personId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }
}

async function replaceCodes(
  transaction: Kysely<Schema>,
  personId: string,
  hashes: readonly string[],
): Promise<void> {
  await transaction.deleteFrom('recovery_codes').where('person_id', '=', personId).execute();
  for (const hash of hashes)
    await transaction
      .insertInto('recovery_codes')
      .values({ hash, person_id: personId, used_at_ms: null })
      .execute();
}

function toPasskey(row: Selectable<PasskeysTable>): StoredPasskey {
  return {
    ...{ id: row.id, personId: row.person_id, credentialId: row.credential_id, name: row.name },
    ...{ publicKey: row.public_key, counter: Number(row.counter), createdAtMs: Number(row.created_at_ms) },
    transports: JSON.parse(row.transports) as string[],
    usedAtMs: row.used_at_ms === null ? null : Number(row.used_at_ms),
  };
}

function toIdentity(row: Selectable<PersonIdentitiesTable>): StoredIdentity {
  return {
    ...{ id: row.id, personId: row.person_id, issuer: row.issuer, subject: row.subject, label: row.label },
    ...{ isManaged: row.is_managed === 1n, createdAtMs: Number(row.created_at_ms) },
    usedAtMs: row.used_at_ms === null ? null : Number(row.used_at_ms),
  };
}
