import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { type DeclaredGroup, groupFields, routingFields } from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { identifier } from '../catalogue/identifiers.ts';
import { mistakesOf, patched, patchedRouting, patchMembers } from '../catalogue/limit-patch.ts';
import { type AccountRefusal, type ChangeTools, unknownName } from './accounts.ts';
import { writeAudit } from './audit.ts';

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
  if (!(await tools.store.configuration.insertGroup(group)))
    return fail({ kind: 'conflict', member: 'id', message: `there is a group "${id}" already` });
  const target = { kind: 'group', id, name: group.name } as const;
  await writeAudit(tools, { action: 'group.create', target, accountId: null, after: read.data });
  return succeed(group);
}

const refusals = {
  'in-use': 'keys belong to it: revoke them, or make others in another group first',
  declared: 'the configuration file declares it: take it away there',
} as const;

/** Takes a group away that has no keys any more. */
export async function removeGroup(tools: ChangeTools, id: string): Promise<Result<null, AccountRefusal>> {
  const removed = await tools.store.configuration.removeGroup(id);
  if (!removed.ok) {
    if (removed.error === 'unknown') return fail({ kind: 'unknown', message: `there is no group "${id}"` });
    return fail({ kind: 'conflict', member: 'id', message: refusals[removed.error] });
  }
  await writeAudit(tools, {
    action: 'group.remove',
    target: { kind: 'group', id },
    accountId: null,
    before: { id },
  });
  return succeed(null);
}
