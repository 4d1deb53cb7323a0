import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { ConfigurationWriter } from '../configuration-writer.ts';
import { readRecord, readRecords } from '../ledger-records.ts';
import { loadConfiguration, loadRevision } from '../load-configuration.ts';
import { loadRouterStates, saveRouterStates } from '../router-states.ts';
import type { Schema } from '../schema.ts';
import type { Batch } from '../settle-batch.ts';
import { SqlUsageReports } from '../usage-reports.ts';
import { verifyLedger } from '../verify.ts';
import { Committer } from './committer.ts';
import { openDatabase } from './database.ts';
import { openKysely } from './kysely.ts';
import { migrate } from './migrations.ts';
import { Run, recoverInterrupted } from './run.ts';

/** Everything a worker does for the main thread, by name. One job runs at a time. */
export type StoreJobs = ReturnType<typeof createStoreJobs>;

export function createStoreJobs(file: string) {
  const database = openDatabase(file);
  migrate(database);
  const kysely = openKysely(database);
  return {
    ...createLedgerJobs(database, file),
    ...createConfigurationJobs(kysely),
    ...createReadingJobs(kysely),
  };
}

function createLedgerJobs(database: DatabaseSync, file: string) {
  const committer = new Committer(database);
  let run: Run | null = null;
  /** Only a process that holds calls open is a run; in memory there is no one else to tell. */
  const runFor = (batch: Batch, nowMs: number): bigint | null => {
    if (batch.opens.length === 0 || file === ':memory:') return null;
    run ??= new Run(database, file, nowMs);
    return run.id;
  };
  return {
    commit: (batch: Batch, nowMs: number) => committer.commit(batch, () => runFor(batch, nowMs)),
    probe: () => committer.probe(),
    recoverInterrupted: () => recoverInterrupted(database, file, run),
    close: () => {
      run?.close();
      database.close();
    },
  };
}

function createConfigurationJobs(kysely: Kysely<Schema>) {
  const writer = new ConfigurationWriter(kysely);
  return {
    apply: writer.apply.bind(writer),
    insertKey: writer.insertKey.bind(writer),
    setKeyStatus: writer.setKeyStatus.bind(writer),
    rotateKey: writer.rotateKey.bind(writer),
    revision: () => loadRevision(kysely),
    load: (nowMs: number) => loadConfiguration(kysely, nowMs),
    saveRouterStates: saveRouterStates.bind(null, kysely),
    loadRouterStates: () => loadRouterStates(kysely),
  };
}

function createReadingJobs(kysely: Kysely<Schema>) {
  const reports = new SqlUsageReports(kysely);
  return {
    totals: reports.totals.bind(reports),
    series: reports.series.bind(reports),
    byModel: reports.byModel.bind(reports),
    page: reports.page.bind(reports),
    find: reports.find.bind(reports),
    balance: reports.balance.bind(reports),
    records: readRecords.bind(null, kysely),
    record: readRecord.bind(null, kysely),
    verify: () => verifyLedger(kysely),
  };
}
