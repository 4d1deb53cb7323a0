import { z } from 'zod';
import { includes, type Scope } from '../../admin/people/actor.ts';
import type { AuditFilter, AuditRow, AuditStore } from '../../ports/audit.ts';
import { auditPage, auditQuery } from './contract/audit.ts';
import { answer } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface AuditSources {
  readonly audit: Pick<AuditStore, 'list'>;
}

/** Tells who changed what: operators everything, an account's admins what was changed in it. */
export function auditApi(api: ConsoleApi, { audit }: AuditSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/audit', access: 'admin', tag: 'Audit', query: auditQuery },
      summary: 'Changes, the newest first',
      answer: auditPage,
    },
    async ({ query, scope }) => {
      const before = readCursor(query.cursor, z.tuple([z.string().regex(/^[0-9a-f]{32}$/)]));
      if (!before.ok) return before.error;
      const found = await audit.list(filterOf(query, scope), query.limit + 1, before.value?.[0] ?? null);
      return answer(page(found.map(viewOf), query.limit, ({ id }) => [id]));
    },
  );
}

function filterOf(query: z.output<typeof auditQuery>, scope: Scope): AuditFilter {
  const { account, action, target, thing, person, from, to } = query;
  const [, kind, id] = /^([^:]*)(?::(.*))?$/s.exec(target ?? '') ?? [];
  return {
    accounts: account === undefined ? scope : includes(scope, account) ? [account] : [],
    ...(action === undefined ? {} : { action }),
    ...(kind === undefined || kind === '' ? {} : { targetKind: kind }),
    ...((id ?? thing) === undefined ? {} : { targetId: id ?? thing }),
    ...(person === undefined ? {} : { personId: person }),
    ...(from === undefined ? {} : { fromMs: Date.parse(from) }),
    ...(to === undefined ? {} : { toMs: Date.parse(to) }),
  };
}

function viewOf({ atMs, actor, accountId, ...row }: AuditRow) {
  const { kind, personId, name } = actor;
  return {
    ...row,
    at: new Date(atMs).toISOString(),
    actor: { kind, id: personId, name },
    account: accountId,
  };
}
