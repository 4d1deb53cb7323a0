import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { LeaseExchange } from '../../ports/leases.ts';
import type { StatusView } from '../../ports/status.ts';
import { type LedgerAlarm, StoreUnavailable } from '../../ports/store.ts';
import { accountMoney, adjust, listAdjustments, spentIn } from '../accounts.ts';
import { amendLimits, insertAccount, insertGroup, removeGroup } from '../amendments.ts';
import { ArchivedPages } from '../archive/archived-pages.ts';
import { archiveStep } from '../archive/archiver.ts';
import { SqlCallReports } from '../call-reports.ts';
import { SqlCallSearch } from '../call-search.ts';
import { ConfigurationWriter } from '../configuration.ts';
import { putChannel, removeChannel } from '../console-channels.ts';
import { loadConsoleSettings, putConsoleSettings } from '../console-settings.ts';
import { insertWebhook, putWebhook, removeWebhook, rotateSigningSecret } from '../console-webhooks.ts';
import { CredentialWriter } from '../credentials.ts';
import {
  claimDeliveries,
  concludeDeliveries,
  listDeliveries,
  redeliver,
  webhookStandings,
} from '../event-deliveries.ts';
import { acknowledgeEvents, countUnseen, followEvents, listEvents, recordEvents } from '../events.ts';
import { FactorWriter } from '../factors.ts';
import { Feeder } from '../feeder.ts';
import {
  budgetsSpent,
  countKeys,
  findListedKey,
  listKeys,
  loadKeyChoices,
  spendByDay,
} from '../key-directory.ts';
import { loadConfiguration, loadRevision } from '../load-configuration.ts';
import { readOverview } from '../overview.ts';
import { PersonLinkWriter } from '../person-links.ts';
import { findRecord, readRecords } from '../records.ts';
import { SqlUsageReports } from '../reports.ts';
import { loadRouterStates, saveRouterStates } from '../router-states.ts';
import type { Schema } from '../schema.ts';
import { statusFiles } from '../status-files.ts';
import { takenRates } from '../taken-rates.ts';
import { UsagePages } from '../usage-pages.ts';
import { verifyJournals, verifyStore } from '../verify.ts';
import { ClaimTable } from './call-claims.ts';
import { ChannelCourses } from './channel-courses.ts';
import { createConsoleJobs, createPeopleJobs } from './console-jobs.ts';
import { openDatabase } from './database.ts';
import { openKysely } from './kysely.ts';
import { Leases } from './leases.ts';
import { migrate, newestVersion, versionOf } from './migrations.ts';
import { notedChanges, rowsOfChanges } from './noted-changes.ts';
import { StatusIncidents } from './status-incidents.ts';
import { StatusMeasures } from './status-measures.ts';
import {
  refuseForeign,
  refuseHalfPages,
  refuseNewer,
  refuseRemains,
  refuseStrangeJournal,
  storeProblem,
} from './store-problem.ts';

/** Everything a worker does for the main thread, by name. One job runs at a time. */
export type StoreJobs = ReturnType<typeof createStoreJobs>;

export function createStoreJobs(file: string, onAlarm: (alarm: LedgerAlarm) => void) {
  const database = openStore(file);
  const kysely = openKysely(database);
  const jobs = {
    ...createLedgerJobs(database, file, onAlarm),
    ...createConfigurationJobs(kysely),
    ...createReadingJobs(kysely),
    ...createAccountJobs(kysely),
    ...createEventJobs(kysely),
    ...createConsoleJobs(kysely),
    ...createStatusJobs(database),
    ...createSignInJobs(kysely),
    ...createPeopleJobs(kysely),
    ...createKeyJobs(kysely),
    verify: () => verifyStore(database, kysely, file),
  };
  return { ...jobs, noted: notedChanges(database, kysely, jobs, rowsOfChanges) };
}

/** Opens the database and brings it to the newest schema. Throws `StoreUnusable` when it is not one that can be used. */
function openStore(file: string): DatabaseSync {
  refuseStrangeJournal(file);
  refuseRemains(file);
  let database: DatabaseSync | null = null;
  try {
    database = openDatabase(file);
    // One snapshot, as another process may be making its tables at this moment.
    database.exec('BEGIN');
    const version = versionOf(database);
    refuseForeign(database, version, file);
    database.exec('COMMIT');
    refuseNewer(version, newestVersion, file);
    refuseHalfPages(database, file);
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    throw storeProblem(error, file);
  }
}

function createLedgerJobs(database: DatabaseSync, file: string, onAlarm: (alarm: LedgerAlarm) => void) {
  const feeder = new Feeder({ database, file, now: Date.now, onAlarm });
  const leases = new Leases(database, () => feeder.suspect());
  const claims = new ClaimTable(database, file, () => feeder.run);
  return {
    exchangeLeases: (exchange: LeaseExchange) => {
      if (feeder.run === null) throw new StoreUnavailable('leases belong to a run, and none has begun');
      return leases.exchange(feeder.run, exchange);
    },
    begin: () => feeder.begin(),
    changeClaims: claims.change.bind(claims),
    catchUpStep: feeder.catchUpStep.bind(feeder),
    replay: () => feeder.replay(),
    salvage: () => feeder.salvage(),
    verifyJournals: () => verifyJournals(database, file),
    archive: (beforeMs: number, nowMs: number) => archiveStep(database, file, beforeMs, nowMs),
    close: () => {
      feeder.close();
      database.close();
    },
  };
}

function createConfigurationJobs(kysely: Kysely<Schema>) {
  const writer = new ConfigurationWriter(kysely);
  const credentials = new CredentialWriter(kysely);
  return {
    apply: writer.apply.bind(writer),
    removals: writer.removals.bind(writer),
    putChannel: putChannel.bind(null, kysely),
    removeChannel: removeChannel.bind(null, kysely),
    insertWebhook: insertWebhook.bind(null, kysely),
    putWebhook: putWebhook.bind(null, kysely),
    removeWebhook: removeWebhook.bind(null, kysely),
    rotateSigningSecret: rotateSigningSecret.bind(null, kysely),
    setPrices: writer.setPrices.bind(writer),
    insertKey: writer.insertKey.bind(writer),
    insertAccount: insertAccount.bind(null, kysely),
    insertGroup: insertGroup.bind(null, kysely),
    removeGroup: removeGroup.bind(null, kysely),
    amendLimits: amendLimits.bind(null, kysely),
    setKeyStatus: writer.setKeyStatus.bind(writer),
    rotateKey: writer.rotateKey.bind(writer),
    addCredential: credentials.addCredential.bind(credentials),
    rotateCredential: credentials.rotateCredential.bind(credentials),
    removeCredential: credentials.removeCredential.bind(credentials),
    revision: () => loadRevision(kysely),
    settings: () => loadConsoleSettings(kysely),
    putSettings: putConsoleSettings.bind(null, kysely),
    load: (nowMs: number) => loadConfiguration(kysely, nowMs),
    saveRouterStates: saveRouterStates.bind(null, kysely),
    loadRouterStates: () => loadRouterStates(kysely),
  };
}

function createAccountJobs(kysely: Kysely<Schema>) {
  return {
    adjust: adjust.bind(null, kysely),
    adjustments: listAdjustments.bind(null, kysely),
    accountMoney: () => accountMoney(kysely),
    spentIn: spentIn.bind(null, kysely),
  };
}

function createKeyJobs(kysely: Kysely<Schema>) {
  return {
    listKeys: listKeys.bind(null, kysely),
    findListedKey: findListedKey.bind(null, kysely),
    keyChoices: loadKeyChoices.bind(null, kysely),
    spendByDay: spendByDay.bind(null, kysely),
    keyCounts: () => countKeys(kysely),
    budgetsSpent: budgetsSpent.bind(null, kysely),
    takenRates: takenRates.bind(null, kysely),
  };
}

function createEventJobs(kysely: Kysely<Schema>) {
  return {
    recordEvents: recordEvents.bind(null, kysely),
    listEvents: listEvents.bind(null, kysely),
    followEvents: followEvents.bind(null, kysely),
    claimDeliveries: claimDeliveries.bind(null, kysely),
    concludeDeliveries: concludeDeliveries.bind(null, kysely),
    webhookStandings: () => webhookStandings(kysely),
    acknowledgeEvents: acknowledgeEvents.bind(null, kysely),
    countUnseen: countUnseen.bind(null, kysely),
    listDeliveries: listDeliveries.bind(null, kysely),
    redeliver: redeliver.bind(null, kysely),
  };
}

function createStatusJobs(database: DatabaseSync) {
  const measures = new StatusMeasures(database);
  const incidents = new StatusIncidents(database);
  const channels = new ChannelCourses(database);
  return {
    channelCourse: channels.course.bind(channels),
    channelCourses: channels.courses.bind(channels),
    channelFailures: channels.failures.bind(channels),
    addStatusCells: measures.add.bind(measures),
    judgeStatus: measures.judge.bind(measures),
    claimProbes: measures.claimProbes.bind(measures),
    statusHistory: measures.history.bind(measures),
    statusFiles: (view: StatusView) => statusFiles(view, measures.history(view.nowMs)),
    statusIncidents: incidents.incidents.bind(incidents),
    addStatusWords: incidents.addWords.bind(incidents),
    maintenances: incidents.maintenances.bind(incidents),
    addMaintenance: incidents.addMaintenance.bind(incidents),
    cancelMaintenance: incidents.cancelMaintenance.bind(incidents),
  };
}

function createSignInJobs(kysely: Kysely<Schema>) {
  const factors = new FactorWriter(kysely);
  const links = new PersonLinkWriter(kysely);
  return {
    factorsOf: factors.factorsOf.bind(factors),
    findTotp: factors.findTotp.bind(factors),
    proposeTotp: factors.proposeTotp.bind(factors),
    takeTotpStep: factors.takeTotpStep.bind(factors),
    removeTotp: factors.removeTotp.bind(factors),
    replaceRecoveryCodes: factors.replaceRecoveryCodes.bind(factors),
    takeRecoveryCode: factors.takeRecoveryCode.bind(factors),
    findPasskey: factors.findPasskey.bind(factors),
    addPasskey: factors.addPasskey.bind(factors),
    notePasskeyUse: factors.notePasskeyUse.bind(factors),
    renamePasskey: factors.renamePasskey.bind(factors),
    removePasskey: factors.removePasskey.bind(factors),
    findIdentity: factors.findIdentity.bind(factors),
    addIdentity: factors.addIdentity.bind(factors),
    noteIdentityUse: factors.noteIdentityUse.bind(factors),
    removeIdentity: factors.removeIdentity.bind(factors),
    addInvitation: links.addInvitation.bind(links),
    openInvitations: links.openInvitations.bind(links),
    findInvitation: links.findInvitation.bind(links),
    acceptAsNew: links.acceptAsNew.bind(links),
    acceptAsPerson: links.acceptAsPerson.bind(links),
    withdrawInvitation: links.withdrawInvitation.bind(links),
    addPasswordLink: links.addPasswordLink.bind(links),
    findPasswordLink: links.findPasswordLink.bind(links),
    takePasswordLink: links.takePasswordLink.bind(links),
    accountName: links.accountName.bind(links),
  };
}

function createReadingJobs(kysely: Kysely<Schema>) {
  const reports = new SqlUsageReports(kysely);
  const pages = new ArchivedPages(kysely, new UsagePages(kysely));
  const calls = new SqlCallReports(kysely);
  const search = new SqlCallSearch(kysely);
  return {
    totals: reports.totals.bind(reports),
    series: reports.series.bind(reports),
    byModel: reports.byModel.bind(reports),
    page: pages.page.bind(pages),
    sisters: reports.sisters.bind(reports),
    find: pages.find.bind(pages),
    balance: reports.balance.bind(reports),
    calls: calls.list.bind(calls),
    spend: calls.spend.bind(calls),
    follow: calls.follow.bind(calls),
    endingIn: calls.endingIn.bind(calls),
    searchPage: search.page.bind(search),
    searchTotals: search.totals.bind(search),
    overview: readOverview.bind(null, kysely),
    records: readRecords.bind(null, kysely),
    record: findRecord.bind(null, kysely),
  };
}
