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
  const dialect = new NodeSqliteDialect({ database: { prepare, close: () => database.close() } });
  return new Kysely<Schema>({ dialect });
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): SqliteDriver {
    return new NodeSqliteDriver(this.#config);
  }
}

/** A transaction that writes takes the lock at its start: one that reads first cannot get it once another has written. */
class NodeSqliteDriver extends SqliteDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }
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
