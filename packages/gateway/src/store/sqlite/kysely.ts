import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
  type TransactionSettings,
} from 'kysely';
import type { Schema } from '../schema.ts';

/** Kysely over a connection of ours. */
export function openKysely(database: DatabaseSync): Kysely<Schema> {
  const prepare = (text: string) => prepareStatement(database, text);
  const config = { database: { prepare, close: () => database.close() } };
  return new Kysely<Schema>({ dialect: new NodeSqliteDialect(config, () => database.isTransaction) });
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #isInTransaction: () => boolean;

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean) {
    super(config);
    this.#config = config;
    this.#isInTransaction = isInTransaction;
  }

  override createDriver(): SqliteDriver {
    return new NodeSqliteDriver(this.#config, this.#isInTransaction);
  }
}

/**
 * A transaction that writes takes the lock at its start: one that reads first cannot get it once another has written. Inside of another
 * one, as that of a change and its note, it is a savepoint.
 */
class NodeSqliteDriver extends SqliteDriver {
  readonly #isInTransaction: () => boolean;
  #isInner = false;

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean) {
    super(config);
    this.#isInTransaction = isInTransaction;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    this.#isInner = this.#isInTransaction();
    const outer = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await run(connection, this.#isInner ? 'savepoint change' : outer);
  }

  override commitTransaction(connection: DatabaseConnection): Promise<void> {
    return run(connection, this.#isInner ? 'release change' : 'commit');
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await run(connection, this.#isInner ? 'rollback to change' : 'rollback');
    if (this.#isInner) await run(connection, 'release change');
  }
}

async function run(connection: DatabaseConnection, statement: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(statement));
}

/** `node:sqlite` takes parameters one by one and does not say whether a statement returns rows. */
function prepareStatement(database: DatabaseSync, text: string): SqliteStatement {
  const statement = database.prepare(text);
  // Kysely passes on what our own queries bind: strings, numbers, bigints and nulls.
  const bound = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bound(parameters)),
    run: (parameters) => statement.run(...bound(parameters)),
    iterate: (parameters) => statement.iterate(...bound(parameters)),
  };
}
