import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { keyUsage } from '../../admin/key-usage.ts';
import {
  changeKey,
  createKey,
  type KeyTools,
  keyBody,
  keyChoices,
  rotateKey,
  setKeyStatus,
} from '../../admin/make-key.ts';
import { keyDeclaration } from '../../admin/owner-declaration.ts';
import { type Actor, type Scope, scopeOf } from '../../admin/people/actor.ts';
import type { Catalogue, KeyStatus } from '../../catalogue/catalogue.ts';
import { readDuration } from '../../catalogue/duration.ts';
import { patchBodies } from '../../catalogue/limit-patch.ts';
import type { ListedKey } from '../../ports/key-directory.ts';
import type { Store } from '../../ports/store.ts';
import {
  declarationView,
  keyChoicesView,
  keyPage,
  keyQuery,
  keyUsageView,
  keyView,
  madeKeyView,
  rotationDraft,
  usageDaysQuery,
} from './contract/keys.ts';
import { answer, type ConsoleProblem, created, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';
import { keyItemOf, keySettings, keyViewOf } from './key-views.ts';
import { problemOf } from './owner-problems.ts';

/** The source of the answers. */
export interface KeySources {
  readonly keys: {
    readonly store: Pick<Store, 'keys' | 'reports' | 'catchUp'>;
    readonly catalogue: { readonly current: Pick<Catalogue, 'models'> };
    /** Tools as of now, for whoever asks. */
    tools(actor: Actor): KeyTools;
    /** Brings a change into force: whoever is told a secret may call with it at once. */
    bringIn(): Promise<void>;
  };
}

type Keys = KeySources['keys'];

/** Keys of callers: who belongs to an account sees its keys, and members make and change them within its bounds. */
export function keysApi(api: ConsoleApi, { keys }: KeySources): void {
  serveLists(api, keys);
  serveOne(api, keys);
  serveChanges(api, keys);
}

function serveLists(api: ConsoleApi, keys: Keys): void {
  api.route(
    {
      ...{ method: 'get', path: '/keys', access: 'viewer', tag: 'Keys', query: keyQuery, answer: keyPage },
      summary: 'Keys, with what they spent',
      description: 'Revoked keys are left out unless `state=revoked` asks for them.',
    },
    async ({ query, scope }) => {
      const cursor = readCursor(query.cursor, z.tuple([z.union([z.string(), z.int()]), z.string()]));
      if (!cursor.ok) return cursor.error;
      const { q: text, state, account: accountId, group: groupId, sort = '-created', limit } = query;
      const filter = { text, state, accountId, groupId };
      const found = await keys.store.keys.list(scope, filter, sort, limit + 1, cursor.value);
      const { items, next } = page(found, limit, ({ place }) => place);
      return answer({ items: items.map(keyItemOf), next });
    },
  );
  api.route(
    {
      ...{ method: 'get', path: '/keys/choices', access: 'viewer', tag: 'Keys', answer: keyChoicesView },
      summary: 'Accounts, groups and models that a new key may have',
    },
    async ({ actor }) => {
      const visible = scopeOf(actor, 'viewer');
      return answer(await keyChoices(keys.tools(actor), visible, keys.catalogue.current));
    },
  );
  api.route(
    {
      ...{
        method: 'post',
        path: '/keys',
        access: 'member',
        tag: 'Keys',
        creates: true,
        onceShown: ['secret'],
      },
      summary: 'Makes a key and tells its secret, once',
      description: 'An account or a group may be left out where only one can be meant.',
      rawBody: keyBody,
      answer: madeKeyView,
    },
    async ({ actor, body }) => {
      const made = await createKey(keys.tools(actor), body);
      if (!made.ok) return problemOf(made.error);
      return told(keys, made.value.key, made.value.record.id);
    },
  );
}

function serveOne(api: ConsoleApi, keys: Keys): void {
  const one = { access: 'viewer', tag: 'Keys' } as const;
  api.route(
    { ...one, method: 'get', path: '/keys/{id}', answer: keyView, summary: 'A key' },
    async ({ params, scope }) => {
      const key = await find(keys, scope, params.id);
      return key.ok ? shown(key.value) : key.error;
    },
  );
  api.route(
    {
      ...{ ...one, method: 'get', path: '/keys/{id}/usage', query: usageDaysQuery, answer: keyUsageView },
      summary: 'Days and models of a key',
    },
    async ({ actor, params, query, scope }) => {
      const key = await find(keys, scope, params.id);
      if (!key.ok) return key.error;
      await keys.store.catchUp();
      return answer(await keyUsage(keys.store.reports, params.id, query.days, keys.tools(actor).nowMs));
    },
  );
  api.route(
    {
      ...{ ...one, method: 'get', path: '/keys/{id}/declaration', answer: declarationView },
      summary: 'A key as a configuration file declares it; its secret comes from a variable',
    },
    async ({ params, scope }) => {
      const key = await find(keys, scope, params.id);
      return key.ok ? answer({ yaml: keyDeclaration(key.value) }) : key.error;
    },
  );
}

const statuses = [
  ['disable', 'disabled', 'Stops a key from working until it is enabled again'],
  ['enable', 'active', 'Lets a disabled key work again'],
  ['revoke', 'revoked', 'Stops a key from working, for good'],
] as const satisfies readonly (readonly [string, KeyStatus, string])[];

const graceUsual = '24h';

function serveChanges(api: ConsoleApi, keys: Keys): void {
  api.route(
    {
      ...{ method: 'patch', path: '/keys/{id}', access: 'member', tag: 'Keys', answer: keyView },
      summary: 'Changes a key',
      description: 'A merge patch (RFC 7396): what it does not name stays, null takes away.',
      rawBody: patchBodies.key,
    },
    async ({ actor, params, body, scope, ifMatch }) => {
      const key = await find(keys, scope, params.id);
      if (!key.ok) return key.error;
      const stale = ifMatch(keySettings(key.value));
      if (stale !== null) return stale;
      const changed = await changeKey(keys.tools(actor), key.value, body);
      return changed.ok ? afterwards(keys, params.id) : problemOf(changed.error);
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/keys/{id}/rotate', access: 'member', tag: 'Keys', answer: madeKeyView },
      summary: 'Makes a successor with the same rights and tells its secret, once',
      ...{ body: rotationDraft, creates: true, onceShown: ['secret'] },
    },
    async ({ actor, params, body, scope }) => {
      const key = await find(keys, scope, params.id);
      if (!key.ok) return key.error;
      const graceMs = readDuration(body.grace ?? graceUsual);
      if (graceMs === null)
        return invalid([{ field: 'grace', message: 'must be a duration such as 24h, at most 100 years' }]);
      const rotated = await rotateKey(keys.tools(actor), key.value, graceMs);
      if (!rotated.ok) return problem('conflict', rotated.error);
      return told(keys, rotated.value.key, rotated.value.record.id);
    },
  );
  for (const [verb, status, summary] of statuses)
    api.route(
      {
        ...{ method: 'post', path: `/keys/{id}/${verb}`, access: 'member', tag: 'Keys', summary },
        answer: keyView,
      },
      async ({ actor, params, scope }) => {
        const key = await find(keys, scope, params.id);
        if (!key.ok) return key.error;
        const set = await setKeyStatus(keys.tools(actor), key.value, status);
        return set.ok ? afterwards(keys, params.id) : problem('conflict', set.error);
      },
    );
}

/** A key of an account that is not in the scope does not exist. */
async function find(keys: Keys, scope: Scope, id: string): Promise<Result<ListedKey, ConsoleProblem>> {
  const key = await keys.store.keys.find(scope, id);
  return key === null ? fail(problem('not_found', `There is no key "${id}".`)) : succeed(key);
}

function shown(key: ListedKey) {
  return answer(keyViewOf(key), { version: keySettings(key) });
}

async function afterwards(keys: Keys, id: string) {
  const key = await find(keys, 'all', id);
  return key.ok ? shown(key.value) : key.error;
}

async function told(keys: Keys, secret: string, id: string) {
  await keys.bringIn();
  const key = await find(keys, 'all', id);
  if (!key.ok) return key.error;
  return created({ secret, key: keyViewOf(key.value) }, { version: keySettings(key.value) });
}
