import { z } from 'zod';
import type { Actor } from '../../admin/people/actor.ts';
import {
  addIncidentWords,
  announceMaintenance,
  cancelMaintenance,
  type StatusRefusal,
  type StatusTools,
} from '../../admin/status-words.ts';
import type { IncidentEntry, Maintenance } from '../../ports/status.ts';
import { pageQuery } from './contract/common.ts';
import {
  incidentEntryView,
  incidentPage,
  maintenanceDraft,
  maintenancePage,
  maintenanceView,
  publicWords,
} from './contract/status.ts';
import { answer, created, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface StatusSources {
  statusTools(actor: Actor): StatusTools;
}

const common = { access: 'operator', tag: 'Status' } as const;
const number = z.strictObject({ id: z.string().regex(/^\d{1,15}$/, 'must be a number') });

/** Incidents with an operator's words, and maintenance that is announced. */
export function statusApi(api: ConsoleApi, { statusTools }: StatusSources): void {
  api.route(
    {
      ...{ ...common, method: 'get', path: '/status/incidents', query: pageQuery, answer: incidentPage },
      summary: 'Incidents, the newest first',
    },
    async ({ actor, query }) => {
      const before = readCursor(query.cursor, z.tuple([z.int()]));
      if (!before.ok) return before.error;
      const { status } = statusTools(actor);
      const entries = await status.incidents(query.limit + 1, before.value?.[0] ?? null);
      const found = [...Map.groupBy(entries, ({ incident }) => incident)].sort(([a], [b]) => b - a);
      const { items, next } = page(found, query.limit, ([incident]) => [incident]);
      return answer({ items: items.map(([incident, own]) => incidentOf(incident, own)), next });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/status/incidents/{id}/words', params: number, creates: true },
      ...{ body: publicWords, answer: incidentEntryView },
      summary: 'Adds words to an incident, for good',
    },
    async ({ actor, params, body }) => {
      const said = await addIncidentWords(statusTools(actor), Number(params.id), body);
      return said.ok ? created(entryOf(said.value)) : refusalOf(said.error);
    },
  );
  maintenanceRoutes(api, { statusTools });
}

function maintenanceRoutes(api: ConsoleApi, { statusTools }: StatusSources): void {
  api.route(
    {
      ...{ ...common, method: 'get', path: '/status/maintenance', answer: maintenancePage },
      summary: 'Announced maintenance, the latest first',
    },
    async ({ actor }) => {
      const found = await statusTools(actor).status.maintenances();
      return answer({ items: found.map(workOf), next: null });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/status/maintenance', creates: true },
      ...{ body: maintenanceDraft, answer: maintenanceView },
      summary: 'Announces maintenance: its subjects have no incidents meanwhile',
    },
    async ({ actor, body }) => {
      const { title, startsAt, endsAt, subjects = null } = body;
      const times = { fromMs: Date.parse(startsAt), toMs: Date.parse(endsAt) };
      const made = await announceMaintenance(statusTools(actor), { title, ...times, subjects });
      return made.ok ? created(workOf(made.value)) : refusalOf(made.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/status/maintenance/{id}/cancel', params: number },
      answer: maintenanceView,
      summary: 'Takes announced maintenance back, or ends it',
    },
    async ({ actor, params }) => {
      const cancelled = await cancelMaintenance(statusTools(actor), Number(params.id));
      return cancelled.ok ? answer(workOf(cancelled.value)) : refusalOf(cancelled.error);
    },
  );
}

function refusalOf({ field, message }: StatusRefusal) {
  return field === '' ? problem('not_found', message) : invalid([{ field, message }]);
}

function incidentOf(incident: number, entries: readonly IncidentEntry[]) {
  const subjects = new Map(
    entries.flatMap(({ subject }) =>
      subject === null ? [] : [[`${subject.kind} ${subject.name}`, subject]],
    ),
  );
  const closed = entries.find(({ kind }) => kind === 'closed');
  return {
    id: String(incident),
    startedAt: timeOf(Math.min(...entries.map(({ atMs }) => atMs))),
    resolvedAt: closed === undefined ? null : timeOf(closed.atMs),
    subjects: [...subjects.values()],
    entries: entries.map(entryOf),
  };
}

function entryOf({ number, atMs, kind, subject, state, words, author }: IncidentEntry) {
  return { number, at: timeOf(atMs), kind, subject, state, words, author };
}

function workOf({ id, title, fromMs, toMs, subjects, cancelledAtMs, author }: Maintenance) {
  return {
    ...{ id: String(id), title, startsAt: timeOf(fromMs), endsAt: timeOf(toMs) },
    ...{ subjects: subjects === null ? null : [...subjects], author },
    cancelledAt: cancelledAtMs === null ? null : timeOf(cancelledAtMs),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
