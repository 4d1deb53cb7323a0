import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { readDuration } from '../../catalogue/duration.ts';
import { identifier } from '../../catalogue/identifiers.ts';
import { type DeclaredWebhook, webhooksMax } from '../../catalogue/webhooks.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { AuditMembers } from '../../ports/audit.ts';
import type {
  ConfigurationStore,
  NewSigningSecret,
  Sourced,
  StoredConfiguration,
} from '../../ports/configuration-store.ts';
import { noting } from '../audit.ts';
import { sealingKeysFor } from '../credentials.ts';
import {
  attemptPiece,
  declaredIn,
  type HasSeen,
  invalid,
  type PieceRefusal,
  type PieceTools,
} from '../piecewise.ts';
import { sealSigningSecret } from '../secrets/sealed-secrets.ts';
import { readWebhookForm, webhookFormOf } from './webhook-form.ts';

type StoredWebhook = DeclaredWebhook & Sourced;

/** A webhook whose secret is told this once. */
export interface ToldWebhook {
  readonly id: string;
  readonly secret: string;
}

/** Libraries that verify messages want 24 to 64 bytes. */
const secretBytes = 32;

/** A person has so long to give the receiver the new secret. */
export const graceUsual = '24h';
const graceMsMax = 90 * 86_400_000;

/** Makes a webhook of the console's, and a secret for it. */
export async function createWebhook(
  tools: PieceTools,
  id: string,
  form: object,
): Promise<Result<ToldWebhook, PieceRefusal>> {
  const named = identifier.safeParse(id);
  const read = readWebhookForm(id, form);
  if (!named.success || !read.ok) {
    const wrong = named.error?.issues.map(({ message }) => ({ field: 'name', message })) ?? [];
    return invalid([...wrong, ...(read.ok ? [] : read.error)]);
  }
  return attemptPiece(tools, async (stored) => {
    if (webhooksOf(stored).some((webhook) => webhook.id === id))
      return fail({ kind: 'conflict', field: 'name', message: `there is a webhook "${id}" already` });
    if (webhooksOf(stored).length >= webhooksMax) return fail(tooMany);
    const made = makeSecret(tools, stored, id);
    if (!made.ok) return made;
    const configuration = noted(tools, 'create', id, null, shown(read.value));
    const { row, secret } = made.value;
    const isMade = await configuration.insertWebhook(read.value, row, stored.revision, tools.nowMs);
    return succeed(isMade ? { id, secret } : null);
  });
}

const tooMany: PieceRefusal = {
  ...{ kind: 'conflict', field: 'name' },
  message: `there are ${webhooksMax} webhooks, and may be no more: take one away first`,
};

/** Replaces members of a webhook of the console's; null takes one back to what holds where nothing is said. */
export async function changeWebhook(
  tools: PieceTools,
  id: string,
  patch: Readonly<Record<string, unknown>>,
  hasSeen: HasSeen,
): Promise<Result<string, PieceRefusal>> {
  return attemptPiece(tools, async (stored) => {
    const found = findOwn(stored, id, hasSeen);
    if (!found.ok) return found;
    const all = Object.entries({ ...webhookFormOf(found.value), ...patch });
    const read = readWebhookForm(id, Object.fromEntries(all.filter(([, value]) => value !== null)));
    if (!read.ok) return invalid(read.error);
    const { url } = found.value;
    const isOtherPath = read.value.url !== url && originOf(read.value.url) === originOf(url);
    const after = {
      ...shown(read.value),
      ...(isOtherPath ? { address: `${originOf(url)}, another path` } : {}),
    };
    const configuration = noted(tools, 'change', id, shown(found.value), after);
    const isPut = await configuration.putWebhook(read.value, stored.revision);
    return succeed(isPut ? id : null);
  });
}

/** Takes a webhook of the console's away, its secrets and what waits for it. */
export async function removeWebhook(
  tools: PieceTools,
  id: string,
  hasSeen: HasSeen,
): Promise<Result<string, PieceRefusal>> {
  return attemptPiece(tools, async (stored) => {
    const found = findOwn(stored, id, hasSeen);
    if (!found.ok) return found;
    const configuration = noted(tools, 'remove', id, shown(found.value), null);
    const isRemoved = await configuration.removeWebhook(id, stored.revision);
    return succeed(isRemoved ? id : null);
  });
}

/** Gives a webhook another secret; the one before signs beside it for a while. It may be one of a file that names no place. */
export async function rotateWebhook(
  tools: PieceTools,
  id: string,
  grace: string,
): Promise<Result<ToldWebhook, PieceRefusal>> {
  const graceMs = readDuration(grace);
  if (graceMs === null || graceMs > graceMsMax)
    return invalid([{ field: 'grace', message: 'must be a duration such as 24h, 90 days at the most' }]);
  return attemptPiece(tools, async (stored) => {
    const found = find(stored, id);
    if (!found.ok) return found;
    if (found.value.secret !== null)
      return fail({
        ...{ kind: 'conflict', field: 'name' },
        message: `the secret of "${id}" is kept in the place that the configuration names: exchange it there`,
      });
    const made = makeSecret(tools, stored, id);
    if (!made.ok) return made;
    const retiresAtMs = tools.nowMs + graceMs;
    const until = new Date(retiresAtMs).toISOString();
    const configuration = noted(tools, 'rotate', id, null, { formerUntil: until });
    const { row, secret } = made.value;
    const isDone = await configuration.rotateSigningSecret(row, retiresAtMs, stored.revision, tools.nowMs);
    return succeed(isDone ? { id, secret } : null);
  });
}

/** Finds a webhook, whoever declares it. */
export function findWebhook(stored: StoredConfiguration, id: string): StoredWebhook | null {
  return webhooksOf(stored).find((webhook) => webhook.id === id) ?? null;
}

function makeSecret(
  { dataDir }: PieceTools,
  stored: StoredConfiguration,
  webhook: string,
): Result<{ readonly secret: string; readonly row: NewSigningSecret }, PieceRefusal> {
  const keys = sealingKeysFor(stored, dataDir);
  if (!keys.ok) return fail({ kind: 'conflict', field: '', message: keys.error });
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
  const place = { id: `sign-${randomBytes(6).toString('hex')}`, webhook };
  return succeed({ secret, row: { ...place, ...sealSigningSecret(keys.value, place, secret) } });
}

function webhooksOf({ webhooks = [] }: StoredConfiguration): readonly StoredWebhook[] {
  return webhooks;
}

function find(stored: StoredConfiguration, id: string): Result<StoredWebhook, PieceRefusal> {
  const found = findWebhook(stored, id);
  const ids = webhooksOf(stored).map((webhook) => webhook.id);
  return found === null
    ? fail({ kind: 'unknown', message: `there is no webhook "${id}"${didYouMean(id, ids)}` })
    : succeed(found);
}

/** Says why it is not to be changed here where it is not. */
function findOwn(
  stored: StoredConfiguration,
  id: string,
  hasSeen: HasSeen,
): Result<StoredWebhook, PieceRefusal> {
  const found = find(stored, id);
  if (!found.ok) return found;
  if (found.value.source !== 'console') {
    const where = declaredIn(found.value, 'it under alerts.webhooks');
    return fail({ kind: 'conflict', field: 'name', message: `the webhook "${id}" ${where}` });
  }
  return hasSeen(webhookFormOf(found.value)) ? found : fail({ kind: 'stale' });
}

/** The configuration, for one change that is noted. */
function noted(
  tools: PieceTools,
  verb: string,
  id: string,
  before: AuditMembers | null,
  after: AuditMembers | null,
): ConfigurationStore {
  const target = { kind: 'webhook', id } as const;
  return noting(tools, { action: `webhook.${verb}`, target, accountId: null, before, after }).configuration;
}

/** The path of an address may be a secret of its receiver. */
function shown(webhook: DeclaredWebhook): AuditMembers {
  const { description, url, kinds, severity, enabled, allowPrivate } = webhook;
  return { description, address: originOf(url), kinds, severity, enabled, allowPrivate };
}

function originOf(url: string): string {
  return new URL(url).origin;
}
