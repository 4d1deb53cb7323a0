import { amendOwner, type ChangeTools } from '../../admin/accounts.ts';
import { createGroup, groupBody, removeGroup } from '../../admin/groups.ts';
import { groupDeclaration } from '../../admin/owner-declaration.ts';
import type { Actor } from '../../admin/people/actor.ts';
import { groupFields, routingFields } from '../../catalogue/entities.ts';
import { exported } from '../../catalogue/fields.ts';
import { patchBodies } from '../../catalogue/limit-patch.ts';
import { formatDecimal } from '../../money/money.ts';
import type { KeyChoices } from '../../ports/key-directory.ts';
import { type GroupView, groupPage, groupView } from './contract/groups.ts';
import { declarationView } from './contract/keys.ts';
import { answer, created, nothing } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { budgetViewOf } from './key-views.ts';
import { notThere, problemOf } from './owner-problems.ts';

/** The source of the answers. */
export interface GroupSources {
  /** Tools as of now, for whoever asks. */
  groups(actor: Actor): ChangeTools;
}

type Group = KeyChoices['groups'][number];

/** Groups, which are the operator's: people of accounts learn of theirs where they make keys. */
export function groupsApi(api: ConsoleApi, { groups }: GroupSources): void {
  const common = { access: 'operator', tag: 'Groups' } as const;
  api.route(
    { ...common, method: 'get', path: '/groups', answer: groupPage, summary: 'All groups' },
    async ({ actor }) => {
      const { keys } = groups(actor).store;
      const [{ groups: found }, { byGroup }] = await Promise.all([keys.choices('all'), keys.counts()]);
      const items = found.map((group) => viewOf(group, byGroup.get(group.id) ?? 0, []));
      return answer({ items, next: null });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/groups', answer: groupView, summary: 'Makes a group' },
      ...{ rawBody: groupBody, creates: true },
    },
    async ({ actor, body }) => {
      const made = await createGroup(groups(actor), body);
      if (!made.ok) return problemOf(made.error);
      const group = { ...made.value, source: 'operator' } as const;
      return created(viewOf(group, 0, []), { version: settingsOf(group) });
    },
  );
  serveGroup(api, groups);
}

function serveGroup(api: ConsoleApi, groups: GroupSources['groups']): void {
  const one = { path: '/groups/{id}', access: 'operator', tag: 'Groups' } as const;
  api.route({ ...one, method: 'get', answer: groupView, summary: 'A group' }, ({ actor, params }) =>
    show(groups(actor), params.id),
  );
  api.route(
    {
      ...{ ...one, method: 'patch', answer: groupView, summary: 'Changes a group' },
      description: 'A merge patch (RFC 7396): what it does not name stays, null takes away.',
      rawBody: patchBodies.group,
    },
    async ({ actor, params, body, ifMatch }) => {
      const before = await find(groups(actor), params.id);
      const stale = before === null ? null : ifMatch(settingsOf(before));
      if (stale !== null) return stale;
      const amended = await amendOwner(groups(actor), 'group', params.id, body);
      return amended.ok ? show(groups(actor), amended.value) : problemOf(amended.error);
    },
  );
  api.route(
    { ...one, method: 'delete', answer: null, summary: 'Takes a group away that has no keys' },
    async ({ actor, params }) => {
      const removed = await removeGroup(groups(actor), params.id);
      return removed.ok ? nothing() : problemOf(removed.error);
    },
  );
  api.route(
    {
      ...{ ...one, path: '/groups/{id}/declaration', method: 'get', answer: declarationView },
      summary: 'A group as a configuration file declares it',
    },
    async ({ actor, params }) => {
      const group = await find(groups(actor), params.id);
      return group === null ? noGroup(params.id) : answer({ yaml: groupDeclaration(group) });
    },
  );
}

async function find({ store }: ChangeTools, id: string): Promise<Group | null> {
  const { groups } = await store.keys.choices([]);
  return groups.find((group) => group.id === id) ?? null;
}

async function show(tools: ChangeTools, id: string) {
  const group = await find(tools, id);
  if (group === null) return noGroup(id);
  const { keys } = tools.store;
  const { byGroup } = await keys.counts();
  const spent = await keys.budgets(`group:${id}`, group.budgets, group.timeZone);
  return answer(viewOf(group, byGroup.get(id) ?? 0, spent.map(budgetViewOf)), { version: settingsOf(group) });
}

function noGroup(id: string) {
  return notThere(`There is no group "${id}".`);
}

function viewOf(group: Group, keys: number, budgets: GroupView['budgets']): GroupView {
  const { id, name, platform, multiplierPpm, models, routing, timeZone, limits, source } = group;
  return {
    ...{ id, name, platform, limits, source, keys, budgets, timezone: timeZone },
    multiplier: formatDecimal(multiplierPpm, 6),
    models: models === null ? null : [...models],
    routing: { ...routing, channels: routing.channels === null ? null : [...routing.channels] },
    alertAt: group.budgets === null ? null : formatDecimal(BigInt(group.budgets.alertAtPpm), 6),
    declared: source === 'file',
  };
}

/** All that a change may overwrite. */
function settingsOf(group: Omit<Group, 'source'>): object {
  return {
    ...exported(groupFields, group.id, group),
    routing: exported(routingFields, group.id, group.routing),
  };
}
