import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { type AlertKind, alertKindNames, type Severity } from './alert-kinds.ts';
import type { ProxyServer } from './catalogue.ts';
import {
  convertedOrUnset,
  type Field,
  field,
  flag,
  jsonList,
  required,
  text,
  unset,
  type ValuesOf,
  word,
} from './fields.ts';
import {
  readSecretSource,
  type SealedSigningSecret,
  type SecretSource,
  type WrittenSecret,
  writeSecretSource,
  writtenSecret,
} from './secret-source.ts';
import type { Sourced } from './sources.ts';

const namedPlace = {
  write: (source: SecretSource | null) => JSON.stringify(source),
  // The store is the only writer of this column.
  read: (cell: unknown) => JSON.parse(String(cell)) as SecretSource,
};

const secret: Field<SecretSource | null, WrittenSecret> = {
  ...convertedOrUnset(
    writtenSecret.describe(
      'Place of the secret that its messages are signed with: 16 characters or more. Left out, the store keeps one that `headgate webhooks rotate` makes.',
    ),
    namedPlace,
    readSecretSource,
    writeSecretSource,
  ),
  // The column was made when there was no other place than a named one: null is written as JSON, too.
  cell: { write: namedPlace.write, read: (cell) => JSON.parse(String(cell)) as SecretSource | null },
};

/** Each is looked after by itself, and every event is written once for each: there may be no more of them. */
export const webhooksMax = 20;

export const webhookFields = {
  url: required(
    z
      .string()
      .max(2_000)
      .refine(isWebhookUrl, 'must be an https URL without user name or fragment')
      .describe('Where its messages are posted to.'),
    text,
  ),
  description: unset(z.string().min(1).max(200).describe('What it is for, in words.'), text),
  secret,
  kinds: unset(
    z.array(z.enum(alertKindNames)).min(1).describe('Kinds of events that it hears of; all if left out.'),
    jsonList<AlertKind>(),
  ),
  severity: field<Severity>(
    z.enum(['error', 'warning', 'info']).describe('The least weight of events that it hears of.'),
    word<Severity>(),
    () => 'info',
  ),
  enabled: field(z.boolean().describe('Whether it hears of events; yes if left out.'), flag, () => true),
  allowPrivate: field(
    z.boolean().describe('Whether its address may be of a private network, and plain http; no if left out.'),
    flag,
    () => false,
  ),
};

export interface DeclaredWebhook extends ValuesOf<typeof webhookFields> {
  readonly id: string;
}

/** A secret that messages are signed with, beside others where one was exchanged. */
export interface SigningSecret {
  readonly secret: string;
  /** When it signs no more; null of the one that is in force. */
  readonly untilMs: number | null;
}

/** A receiver of events, ready to be sent to. */
export interface Webhook extends Omit<DeclaredWebhook, 'secret'> {
  readonly source: Sourced['source'];
  /** Its secret is kept in a place that is named, or in the store. */
  readonly keeps: 'place' | 'store';
  /** The newest first. None while the newest is not there: then its messages wait. */
  readonly secrets: readonly SigningSecret[];
  readonly proxy: ProxyServer | null;
}

/** A webhook that lacks something. */
export interface WebhookGap {
  readonly id: string;
  readonly detail: string;
}

interface WebhookSources {
  readonly secret: (source: SecretSource | SealedSigningSecret) => Result<string, string>;
  readonly proxyFor: (baseUrl: string) => ProxyServer | null;
}

/** A shorter one could be guessed from a single message. */
const secretCharsMin = 16;

/** Reads the secrets of webhooks. The server's proxy is not for addresses of the operator's own network. */
export function buildWebhooks(
  declared: readonly (DeclaredWebhook & Sourced)[],
  kept: readonly SealedSigningSecret[],
  sources: WebhookSources,
): { readonly webhooks: readonly Webhook[]; readonly gaps: readonly WebhookGap[] } {
  const gaps: WebhookGap[] = [];
  const webhooks = declared.map((webhook) => {
    const { secret: place, ...members } = webhook;
    const secrets = place === null ? keptSecrets(webhook.id, kept, sources) : namedSecret(place, sources);
    // Nobody misses the secret of one that is turned off.
    if (!secrets.ok && webhook.enabled) gaps.push({ id: webhook.id, detail: `its secret ${secrets.error}` });
    const proxy = webhook.allowPrivate ? null : sources.proxyFor(webhook.url);
    const keeps = place === null ? ('store' as const) : ('place' as const);
    return { ...members, keeps, secrets: secrets.ok ? secrets.value : [], proxy };
  });
  return { webhooks, gaps };
}

function namedSecret(
  place: SecretSource,
  { secret }: WebhookSources,
): Result<readonly SigningSecret[], string> {
  const found = secret(place);
  if (!found.ok) return fail(`is missing: ${found.error}`);
  if (found.value.length < secretCharsMin) return fail(`has fewer than ${secretCharsMin} characters`);
  return succeed([{ secret: found.value, untilMs: null }]);
}

/** One that was exchanged and does not open is done without: the one in force signs. */
function keptSecrets(
  webhook: string,
  kept: readonly SealedSigningSecret[],
  { secret }: WebhookSources,
): Result<readonly SigningSecret[], string> {
  const own = kept.filter((each) => each.webhook === webhook);
  const newest = own.find(({ retiresAtMs }) => retiresAtMs === null);
  if (newest === undefined) return fail(`is not made yet: headgate webhooks rotate ${webhook} makes one`);
  const found = secret(newest);
  if (!found.ok) return fail(`is missing: ${found.error}`);
  const older = own.flatMap((each) => {
    const opened = each === newest ? null : secret(each);
    return opened?.ok === true ? [{ secret: opened.value, untilMs: each.retiresAtMs }] : [];
  });
  return succeed([{ secret: found.value, untilMs: null }, ...older]);
}

/** True when messages can be sent to it. */
export function isSentTo({ enabled, secrets }: Webhook): boolean {
  return enabled && secrets.length > 0;
}

/** The secrets that its messages are signed with now. */
export function secretsNow({ secrets }: Webhook, nowMs: number): readonly string[] {
  return secrets.flatMap(({ secret, untilMs }) => (untilMs === null || untilMs > nowMs ? [secret] : []));
}

const weights: Readonly<Record<Severity, number>> = { info: 0, warning: 1, error: 2 };

/** True when a webhook wants to hear of events of this kind and weight. */
export function hearsOf({ enabled, kinds, severity }: Webhook, kind: AlertKind, weight: Severity): boolean {
  return enabled && (kinds?.includes(kind) ?? true) && weights[weight] >= weights[severity];
}

function isWebhookUrl(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.hash === '';
}
