import type { Kysely } from 'kysely';
import { listAuditRows, writeAuditRow } from '../audit.ts';
import { claimCreate, concludeCreate } from '../create-claims.ts';
import * as people from '../people.ts';
import type { Schema } from '../schema.ts';
import * as ends from '../session-ends.ts';
import * as sessions from '../sessions.ts';

/** Notes of who changed what, and of what was made under which name. */
export function createConsoleJobs(kysely: Kysely<Schema>) {
  return {
    writeAuditRow: writeAuditRow.bind(null, kysely),
    listAuditRows: listAuditRows.bind(null, kysely),
    claimCreate: claimCreate.bind(null, kysely),
    concludeCreate: concludeCreate.bind(null, kysely),
  };
}

/** The people of the console, and where they are signed in. */
export function createPeopleJobs(kysely: Kysely<Schema>) {
  return {
    countPeople: () => people.countPeople(kysely),
    insertPerson: people.insertPerson.bind(null, kysely),
    findPerson: people.findPerson.bind(null, kysely),
    findPersonByLogin: people.findPersonByLogin.bind(null, kysely),
    listPeople: people.listPeople.bind(null, kysely),
    amendPerson: people.amendPerson.bind(null, kysely),
    setMembership: people.setMembership.bind(null, kysely),
    hasOtherAdmin: people.hasOtherAdmin.bind(null, kysely),
    changeAccess: people.changeAccess.bind(null, kysely),
    removePerson: people.removePerson.bind(null, kysely),
    accountsOfPerson: people.accountsOfPerson.bind(null, kysely),
    openSession: sessions.openSession.bind(null, kysely),
    findSession: sessions.findSession.bind(null, kysely),
    seeSession: sessions.seeSession.bind(null, kysely),
    rotateSession: sessions.rotateSession.bind(null, kysely),
    listSessions: sessions.listSessions.bind(null, kysely),
    endSession: ends.endSession.bind(null, kysely),
    endSessions: ends.endSessions.bind(null, kysely),
  };
}
