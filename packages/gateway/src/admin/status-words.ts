import { fail, type Result, succeed } from '@headgate/protocols';
import type { IncidentEntry, Maintenance, PublicWords, StatusStore, Subject } from '../ports/status.ts';
import { type AuditTools, noting } from './audit.ts';
import { nameOf } from './people/actor.ts';

/** Everything that saying something on the status page takes. */
export interface StatusTools extends AuditTools {
  readonly status: StatusStore;
  /** Models and channels that there are. */
  readonly subjects: readonly Subject[];
  /** The page is made anew. */
  readonly changed: () => void;
}

/** Why nothing was said: the member that is to blame; empty where the thing itself is not there. */
export interface StatusRefusal {
  readonly field: string;
  readonly message: string;
}

/** Announced at the latest so long before it ends. */
const maintenanceMsMax = 30 * 86_400_000;

/** Adds an operator's words to an incident: for good, as all of its entries. */
export async function addIncidentWords(
  tools: StatusTools,
  incident: number,
  words: PublicWords,
): Promise<Result<IncidentEntry, StatusRefusal>> {
  const { actor, nowMs, changed } = tools;
  const target = { kind: 'incident', id: String(incident), name: `incident ${incident}` } as const;
  const { status } = noting(tools, {
    action: 'incident.words',
    target,
    accountId: null,
    before: null,
    after: { ...words },
  });
  const entry = await status.addWords(incident, words, nameOf(actor), nowMs);
  if (entry === null) return fail({ field: '', message: 'There is no such incident.' });
  changed();
  return succeed(entry);
}

export interface MaintenanceDraft {
  readonly title: PublicWords;
  readonly fromMs: number;
  readonly toMs: number;
  readonly subjects: readonly Subject[] | null;
}

/** Announces work. Its subjects have no incidents meanwhile. */
export async function announceMaintenance(
  tools: StatusTools,
  draft: MaintenanceDraft,
): Promise<Result<Maintenance, StatusRefusal>> {
  const { actor, nowMs, changed, subjects: known } = tools;
  const { fromMs, toMs, subjects } = draft;
  if (toMs <= fromMs) return fail({ field: 'endsAt', message: 'must be later than startsAt' });
  if (toMs <= nowMs) return fail({ field: 'endsAt', message: 'must be in the future' });
  if (toMs - fromMs > maintenanceMsMax)
    return fail({ field: 'endsAt', message: 'must be within 30 days of startsAt' });
  const unknown = subjects?.find(
    (subject) => !known.some(({ kind, name }) => kind === subject.kind && name === subject.name),
  );
  if (unknown !== undefined)
    return fail({ field: 'subjects', message: `there is no ${unknown.kind} ${unknown.name}` });
  const { status } = noting(tools, {
    // The store numbers it.
    ...{ action: 'maintenance.create', target: targetOf({ ...draft, id: 0 }), accountId: null },
    ...{ before: null, after: recordOf(draft) },
  });
  const made = await status.addMaintenance({ ...draft, author: nameOf(actor) });
  changed();
  return succeed(made);
}

/** Takes an announcement back, or ends work that is under way. */
export async function cancelMaintenance(
  tools: StatusTools,
  id: number,
): Promise<Result<Maintenance, StatusRefusal>> {
  const { nowMs, changed } = tools;
  const known = (await tools.status.maintenances()).find((each) => each.id === id);
  if (known === undefined) return fail(noMaintenance);
  const { status } = noting(tools, {
    ...{ action: 'maintenance.cancel', target: targetOf(known), accountId: null },
    ...{ before: recordOf(known), after: null },
  });
  const cancelled = await status.cancelMaintenance(id, nowMs);
  if (cancelled === null) return fail(noMaintenance);
  changed();
  return succeed(cancelled);
}

const noMaintenance = { field: '', message: 'There is no such maintenance, or it is over already.' };

function targetOf({ id, title }: Pick<Maintenance, 'id' | 'title'>) {
  return { kind: 'maintenance', id: String(id), name: title.en ?? title.zh ?? '' } as const;
}

function recordOf({ title, fromMs, toMs }: Pick<Maintenance, 'title' | 'fromMs' | 'toMs'>) {
  const [startsAt, endsAt] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  return { ...title, startsAt, endsAt };
}
