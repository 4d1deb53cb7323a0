import { fail, type Result, succeed } from '@headgate/protocols';
import type { IncidentEntry, Maintenance, PublicWords, StatusStore, Subject } from '../ports/status.ts';
import { type AuditTools, writeAudit } from './audit.ts';
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
  const { status, actor, nowMs, changed } = tools;
  const entry = await status.addWords(incident, words, nameOf(actor), nowMs);
  if (entry === null) return fail({ field: '', message: 'There is no such incident.' });
  changed();
  const target = { kind: 'incident', id: String(incident), name: `incident ${incident}` } as const;
  await writeAudit(tools, {
    action: 'incident.words',
    target,
    accountId: null,
    before: null,
    after: { ...words },
  });
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
  const { status, actor, nowMs, changed, subjects: known } = tools;
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
  const made = await status.addMaintenance({ ...draft, author: nameOf(actor) });
  changed();
  await writeAudit(tools, {
    ...{ action: 'maintenance.create', target: targetOf(made), accountId: null },
    ...{ before: null, after: recordOf(made) },
  });
  return succeed(made);
}

/** Takes an announcement back, or ends work that is under way. */
export async function cancelMaintenance(
  tools: StatusTools,
  id: number,
): Promise<Result<Maintenance, StatusRefusal>> {
  const { status, nowMs, changed } = tools;
  const cancelled = await status.cancelMaintenance(id, nowMs);
  if (cancelled === null)
    return fail({ field: '', message: 'There is no such maintenance, or it is over already.' });
  changed();
  await writeAudit(tools, {
    ...{ action: 'maintenance.cancel', target: targetOf(cancelled), accountId: null },
    ...{ before: recordOf(cancelled), after: null },
  });
  return succeed(cancelled);
}

function targetOf({ id, title }: Maintenance) {
  return { kind: 'maintenance', id: String(id), name: title.en ?? title.zh ?? '' } as const;
}

function recordOf({ title, fromMs, toMs }: Maintenance) {
  const [startsAt, endsAt] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  return { ...title, startsAt, endsAt };
}
