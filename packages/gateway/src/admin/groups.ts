import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { type DeclaredGroup, groupFields, routingFields } from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { identifier } from '../catalogue/identifiers.ts';
import { mistakesOf, patched, patchedRouting, patchMembers } from '../catalogue/limit-patch.ts';
import { type AccountRefusal, type ChangeTools, unknownName } from './accounts.ts';
import { noting } from './audit.ts';

export const groupBody = z.strictObject(
  {
    id: identifier,
    platform: z.enum(['completions', 'messages', 'native'], 'must be completions, messages or native'),
    ...patchMembers.group,
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object of members') },
);

/** Adds a group of the operator's. */
export async function createGroup(
  tools: ChangeTools,
  given: unknown,
): Promise<Result<DeclaredGroup, AccountRefusal>> {
  const read = groupBody.safeParse(given);
  if (!read.success) return fail({ kind: 'invalid', mistakes: read.error.issues.flatMap(mistakesOf) });
  const { id, platform, routing, ...members } = read.data;
  const unknown = unknownName({ ...members, routing }, await tools.store.keys.choices('all'));
  if (unknown !== null) return fail(unknown);
  const declared = patched(groupFields, id, declare(groupFields, id, { platform }), members);
  if (!declared.ok) return fail({ kind: 'invalid', mistakes: declared.error });
  const usual = declare(routingFields, id, {});
  const group = { id, ...declared.value, routing: patchedRouting(id, usual, routing) };
  const target = { kind: 'group', id, name: group.name } as const;
  const change = { action: 'group.create', target, accountId: null, after: read.data } as const;
  if (!(await noting(tools, change).configuration.insertGroup(group)))
    return fail({ kind: 'conflict', member: 'id', message: `there is a group "${id}" already` });
  return succeed(group);
}

const refusals = {
  'in-use': 'keys belong to it: revoke them, or make others in another group first',
  declared: 'the configuration file declares it: take it away there',
} as const;

/** Takes a group away that has no keys any more. */
export async function removeGroup(tools: ChangeTools, id: string): Promise<Result<null, AccountRefusal>> {
  const target = { kind: 'group', id } as const;
  const change = { action: 'group.remove', target, accountId: null, before: { id } } as const;
  const removed = await noting(tools, change).configuration.removeGroup(id);
  if (removed.ok) return succeed(null);
  if (removed.error === 'unknown') return fail({ kind: 'unknown', message: `there is no group "${id}"` });
  return fail({ kind: 'conflict', member: 'id', message: refusals[removed.error] });
}
