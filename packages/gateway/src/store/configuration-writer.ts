import type { Kysely } from 'kysely';
import type { KeyStatus } from '../core/catalogue.ts';
import type {
  ConfigurationChange,
  ConfigurationSource,
  Declaration,
  DeclaredKey,
} from '../ports/configuration-store.ts';
import { applyDeclaration } from './apply-declaration.ts';
import { keyRow } from './configuration-row.ts';
import type { Schema } from './schema.ts';

const nothing: Declaration = {
  providers: {},
  accounts: [],
  groups: [],
  models: [],
  channels: [],
  keys: [],
};

/** The changes of the control plane. Each is one transaction and raises the revision if it changed anything. */
export class ConfigurationWriter {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  apply(
    source: ConfigurationSource,
    declaration: Declaration,
    nowMs: number,
    withdrawn: readonly ConfigurationSource[] = [],
  ): Promise<readonly ConfigurationChange[]> {
    return this.#database.transaction().execute(async (transaction) => {
      const changes: ConfigurationChange[] = [];
      for (const earlier of withdrawn)
        changes.push(...(await applyDeclaration(transaction, earlier, nothing, nowMs)));
      changes.push(...(await applyDeclaration(transaction, source, declaration, nowMs)));
      if (changes.some(({ change }) => change !== 'refused')) await raiseRevision(transaction);
      return changes;
    });
  }

  async insertKey(key: DeclaredKey, nowMs: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await insertKey(transaction, key, nowMs);
      await raiseRevision(transaction);
    });
  }

  setKeyStatus(id: string, status: KeyStatus): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('keys')
        .set({ status })
        .where('id', '=', id)
        .where('status', '!=', 'revoked')
        .where('removed', '=', 0n)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await raiseRevision(transaction);
      return true;
    });
  }

  rotateKey(id: string, successor: DeclaredKey, retiresAtMs: number, nowMs: number): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('keys')
        .set({ retires_at_ms: BigInt(retiresAtMs), replaced_by: successor.id })
        .where('id', '=', id)
        .where('status', '=', 'active')
        .where('removed', '=', 0n)
        .where('replaced_by', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await insertKey(transaction, successor, nowMs);
      await raiseRevision(transaction);
      return true;
    });
  }
}

async function insertKey(transaction: Kysely<Schema>, key: DeclaredKey, nowMs: number): Promise<void> {
  await transaction
    .insertInto('keys')
    .values({
      ...keyRow(key),
      source: 'operator',
      removed: 0n,
      status: 'active',
      created_at_ms: BigInt(nowMs),
    })
    .execute();
}

async function raiseRevision(transaction: Kysely<Schema>): Promise<void> {
  await transaction
    .updateTable('meta')
    .set((row) => ({ value: row('value', '+', 1n) }))
    .where('name', '=', 'configuration_revision')
    .execute();
}
