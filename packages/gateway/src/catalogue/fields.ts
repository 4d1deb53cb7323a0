import type { z } from 'zod';

/** A value as a column holds it. Stores give integers back as bigint. */
type CellValue = string | number | bigint | null;

/** How a value is kept in one column. */
export interface CellForm<Value> {
  write(value: Value): CellValue;
  read(cell: unknown): Value;
}

/** A value that is kept in a column of its own. */
export interface Kept<Value> {
  readonly cell: CellForm<Value>;
  /** Named only when it is not the field's name in snake case. */
  readonly column?: string;
}

/**
 * One field of an entity that an operator configures: what a file may say of it, what holds where a file says nothing, and how
 * it is kept. The shape of the file, its published schema, the columns of the store, the export and the default all follow from it.
 */
export interface Field<Value, Written = Value> extends Kept<Value> {
  /** The shape that a file may write. */
  readonly schema: z.ZodType<Written>;
  /** Gives the value that holds when nothing is written, if need be from the entity's id; undefined when it must be written. */
  readonly absent: ((id: string) => Value) | undefined;
  fromFile(written: Written): Value;
  toFile(value: Value): Written;
  /** The member of the file, where it is not named as the field is. */
  readonly member?: string;
}

/** A table of fields by name. Fields are written with methods, so that those of any type fit. */
export type Fields = Readonly<Record<string, Field<unknown, unknown>>>;

export type KeptFields = Readonly<Record<string, Kept<unknown>>>;

/** An entity as it is declared: the values of its fields. */
export type ValuesOf<Table extends KeptFields> = {
  readonly [Name in keyof Table]: Table[Name] extends Kept<infer Value> ? Value : never;
};

/** The cells of an entity by column. */
export type Cells = Readonly<Record<string, CellValue>>;

export const text: CellForm<string> = { write: (value) => value, read: String };
export const integer: CellForm<number> = { write: (value) => value, read: Number };
/** For what must never pass through a float. */
export const exactInteger: CellForm<bigint> = {
  write: (value) => value,
  read: (cell) => BigInt(String(cell)),
};
export const flag: CellForm<boolean> = { write: (value) => (value ? 1 : 0), read: (cell) => cell === 1n };

function optional<Value>(cell: CellForm<Value>): CellForm<Value | null> {
  return {
    write: (value) => (value === null ? null : cell.write(value)),
    read: (kept) => (kept === null ? null : cell.read(kept)),
  };
}

/** A list as JSON. The store is the only writer of such a column, and the file's schema has checked what is in it. */
export function jsonList<Item>(): CellForm<readonly Item[]> {
  return {
    write: (items) => JSON.stringify(items),
    read: (cell) => JSON.parse(String(cell)) as readonly Item[],
  };
}

export function wordList<Word extends string>(): CellForm<readonly Word[]> {
  return jsonList<Word>();
}

/** One of a closed set of words, which the file's schema has checked. */
export function word<Word extends string>(): CellForm<Word> {
  return { write: (value) => value, read: (cell) => String(cell) as Word };
}

const same = <Value>(value: Value): Value => value;

/** A field that must be written. */
export function required<Value>(schema: z.ZodType<Value>, cell: CellForm<Value>): Field<Value> {
  return { schema, cell, absent: undefined, fromFile: same, toFile: same };
}

/** A field that may be left out. */
export function field<Value>(
  schema: z.ZodType<Value>,
  cell: CellForm<Value>,
  absent: (id: string) => Value,
): Field<Value> {
  return { schema, cell, absent, fromFile: same, toFile: same };
}

/** A field that may be left out, and then is null: a file never writes null itself. */
export function unset<Value>(schema: z.ZodType<Value>, cell: CellForm<Value>): Field<Value | null, Value> {
  return convertedOrUnset(schema, cell, same, same);
}

/** As `unset`, for what a file spells otherwise than we keep it. */
export function convertedOrUnset<Value, Written>(
  schema: z.ZodType<Written>,
  cell: CellForm<Value>,
  fromFile: (written: Written) => Value,
  toFile: (value: Value) => Written,
): Field<Value | null, Written> {
  return {
    schema,
    cell: optional(cell),
    absent: () => null,
    fromFile,
    toFile: (value) => {
      if (value === null) throw new Error('what is left out is not written');
      return toFile(value);
    },
  };
}

/** The members of a file that the fields are written as. */
export function membersOf(fields: Fields): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, each]) => [each.member ?? name, memberOf(each)]),
  );
}

/** The published schema tells what holds where nothing is written, unless that depends on the entity. */
function memberOf({ schema, absent, toFile }: Field<unknown, unknown>): z.ZodType {
  if (absent === undefined) return schema;
  const [usual, other] = [absent('one'), absent('another')];
  const member = schema.exactOptional();
  const isKnown = usual !== null && JSON.stringify(usual, exact) === JSON.stringify(other, exact);
  return isKnown ? member.meta({ default: toFile(usual) }) : member;
}

function exact(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Reads an entity from the members of a file, which have been held against `membersOf`. */
export function declare<Table extends Fields>(fields: Table, id: string, members: object): ValuesOf<Table> {
  const written = new Map<string, unknown>(Object.entries(members));
  return valuesOf<Table>(
    Object.entries(fields).map(([name, each]) => {
      const value = written.get(each.member ?? name);
      if (value !== undefined) return [name, each.fromFile(value)];
      if (each.absent === undefined) throw new Error(`${id} lacks ${name}`);
      return [name, each.absent(id)];
    }),
  );
}

/** The members of a file that declare the entity again; what is as it would be anyway is left out. */
export function exported<Table extends Fields>(fields: Table, id: string, values: ValuesOf<Table>): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, each]) => {
      const value: unknown = values[name];
      const { member, absent, cell } = each;
      const isUsual = absent !== undefined && cell.write(absent(id)) === cell.write(value);
      return isUsual ? [] : [[member ?? name, each.toFile(value)]];
    }),
  );
}

export function writeCells<Table extends KeptFields>(fields: Table, values: ValuesOf<Table>): Cells {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { cell, column }]) => [
      column ?? columnOf(name),
      cell.write(values[name]),
    ]),
  );
}

export function readCells<Table extends KeptFields>(fields: Table, row: object): ValuesOf<Table> {
  return cellReader(fields)(row);
}

/** Reads many rows of one table: where its columns are is found out once. */
export function cellReader<Table extends KeptFields>(fields: Table): (row: object) => ValuesOf<Table> {
  const columns = Object.entries(fields).map(
    ([name, { cell, column }]) => [name, column ?? columnOf(name), cell] as const,
  );
  return (row) => {
    // Every query that reads entities selects all their columns.
    const cells = row as Readonly<Record<string, unknown>>;
    return valuesOf<Table>(columns.map(([name, column, cell]) => [name, cell.read(cells[column])]));
  };
}

/** `maxConcurrency` is kept in the column `max_concurrency`. */
function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function valuesOf<Table extends KeptFields>(
  entries: readonly (readonly [string, unknown])[],
): ValuesOf<Table> {
  // Every name of the table is there, each with a value of its own field.
  return Object.fromEntries(entries) as ValuesOf<Table>;
}
