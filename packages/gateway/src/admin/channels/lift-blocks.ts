import { fail, type Result, succeed } from '@headgate/protocols';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Router } from '../../route/router.ts';
import { type AuditTools, writeAudit } from '../audit.ts';

export interface LiftTools extends AuditTools {
  readonly catalogue: Pick<Catalogue, 'channels' | 'models'>;
  readonly router: Pick<Router, 'lift'>;
}

/** Null is all of them. */
export interface WishToLift {
  /** The public model. */
  readonly model: string | null;
  readonly credential: string | null;
}

/** Lets calls to a channel again at once, and notes who said so. Gives how many obstacles there were. */
export async function liftBlocks(
  tools: LiftTools,
  id: string,
  { model, credential }: WishToLift,
): Promise<Result<number, string>> {
  const { catalogue, router, nowMs } = tools;
  const channel = catalogue.channels.get(id);
  if (channel === undefined) return fail(`There is no channel "${id}".`);
  if (credential !== null && !channel.credentials.some((each) => each.id === credential))
    return fail(`The channel "${id}" has no credential "${credential}".`);
  const models = [...catalogue.models.values()].filter((each) => model === null || each.id === model);
  const targets = models.flatMap((each) => each.targets.filter((target) => target.channel === channel));
  if (targets.length === 0 && model !== null) return fail(`The channel "${id}" does not serve "${model}".`);
  const lifted = targets.reduce((sum, target) => sum + router.lift(target, credential, nowMs), 0);
  const after = { lifted: [model ?? 'every model', credential ?? 'every credential'] };
  const target = { kind: 'channel', id, name: channel.alias } as const;
  await writeAudit(tools, { action: 'channel.lift', target, accountId: null, before: null, after });
  return succeed(lifted);
}
