import type { DatabaseSync } from 'node:sqlite';
import type { Result } from '@headgate/protocols';
import type { Kysely } from 'kysely';
import { type AuditNote, shownSides } from '../../ports/audit.ts';
import type { Amendment, ConfigurationChange } from '../../ports/configuration-store.ts';
import { writeAuditRow } from '../audit.ts';
import type { Schema } from '../schema.ts';

/** Any jobs, by name. */
type AnyJobs = { readonly [job: string]: (...inputs: never[]) => unknown };

/** The jobs that are changes: each gives the row of what it has done, and null where that was nothing. */
export type RowsOfChanges<Jobs extends AnyJobs> = {
  readonly [Job in keyof Jobs]?: (value: Awaited<ReturnType<Jobs[Job]>>, note: AuditNote) => AuditNote | null;
};

/** A job that makes a change of another job and writes its notes, both in one transaction or neither. */
export function notedChanges<Jobs extends AnyJobs>(
  database: DatabaseSync,
  kysely: Kysely<Schema>,
  jobs: Jobs,
  rowsOf: RowsOfChanges<Jobs>,
) {
  return async (
    job: keyof Jobs & string,
    inputs: readonly unknown[],
    notes: readonly AuditNote[],
  ): Promise<unknown> => {
    const rowOf = rowsOf[job];
    if (rowOf === undefined) throw new Error(`the job ${job} is no change that is noted`);
    // Both ends of a lane share the type of the jobs, so the inputs are those of this one.
    const work = jobs[job] as unknown as (
      ...inputs: readonly unknown[]
    ) => Promise<Awaited<ReturnType<Jobs[typeof job]>>>;
    database.exec('begin immediate');
    try {
      const value = await work(...inputs);
      for (const note of notes) {
        const row = rowOf(value, note);
        if (row !== null) await writeAuditRow(kysely, row);
      }
      database.exec('commit');
      return value;
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
  };
}

type Row = AuditNote;
type RowOf = (value: never, note: Row) => Row | null;

const always = (_: unknown, note: Row) => note;
const whenDone = (isDone: boolean, note: Row) => (isDone ? note : null);
const whenOk = ({ ok }: { readonly ok: boolean }, note: Row) => (ok ? note : null);
const whenThere = (value: object | null, note: Row) => (value === null ? null : note);
const whenWord = (word: string) => (value: string, note: Row) => (value === word ? note : null);

/** Each change, and when it has been one. Most rows are known before it is made; of some only the store can tell what they show. */
export const rowsOfChanges = {
  ...{ insertAccount: whenDone, insertGroup: whenDone, removeGroup: whenOk },
  amendLimits: (amended: Result<Amendment, unknown>, note: Row) => {
    if (!amended.ok) return null;
    const { name, accountId } = amended.value;
    const [before, after] = shownSides(note.members, amended.value.before, amended.value.after);
    return { ...note, target: { ...note.target, name }, accountId, before, after };
  },
  adjust: ({ kind }: { readonly kind: string }, note: Row) => (kind === 'posted' ? note : null),
  apply: (changes: readonly ConfigurationChange[], note: Row) => {
    if (changes.length === 0) return null;
    const words = changes.map(({ kind, id, change }) => `${change} ${kind} ${id}`);
    const [, after] = shownSides(note.members, null, { ...note.after, changes: words });
    return { ...note, after };
  },
  ...{ addCredential: always, rotateCredential: whenDone, removeCredential: whenDone },
  ...{ putChannel: whenDone, removeChannel: whenDone, setPrices: always, putSettings: always },
  ...{
    insertWebhook: whenDone,
    putWebhook: whenDone,
    removeWebhook: whenDone,
    rotateSigningSecret: whenDone,
  },
  ...{ insertKey: always, rotateKey: whenDone, setKeyStatus: whenDone },
  ...{ insertPerson: whenWord('added'), amendPerson: whenWord('changed'), changeAccess: whenWord('changed') },
  ...{ removePerson: whenWord('removed'), openSession: always, endSession: whenDone, endSessions: always },
  ...{ takeTotpStep: whenDone, removeTotp: always, replaceRecoveryCodes: always, addPasskey: whenDone },
  ...{ renamePasskey: whenDone, removePasskey: whenDone, addIdentity: whenDone, removeIdentity: whenDone },
  ...{ addInvitation: always, withdrawInvitation: whenDone, addPasswordLink: always },
  ...{ acceptAsNew: whenWord('added'), acceptAsPerson: whenDone },
  ...{ addStatusWords: whenThere, cancelMaintenance: whenThere },
  addMaintenance: ({ id }: { readonly id: number }, note: Row) => ({
    ...note,
    target: { ...note.target, id: String(id) },
  }),
} satisfies Readonly<Record<string, RowOf>>;
