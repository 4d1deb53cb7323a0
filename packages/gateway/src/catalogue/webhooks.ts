import type { Result } from '@headgate/protocols';
import { z } from 'zod';
import { type AlertKind, alertKindNames, type Severity } from './alert-kinds.ts';
import type { ProxyServer } from './catalogue.ts';
import {
  type CellForm,
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
  type SecretSource,
  type WrittenSecret,
  writeSecretSource,
  writtenSecret,
} from './secret-source.ts';

const secretPlace: CellForm<SecretSource> = {
  write: (source) => JSON.stringify(source),
  // The store is the only writer of this column.
  read: (cell) => JSON.parse(String(cell)) as SecretSource,
};

const secret: Field<SecretSource, WrittenSecret> = {
  schema: writtenSecret.describe(
    'Place of the secret that its messages are signed with: 16 characters or more.',
  ),
  cell: secretPlace,
  absent: undefined,
  fromFile: readSecretSource,
  toFile: writeSecretSource,
};

export const webhookFields = {
  url: required(
    z
      .string()
      .max(2_000)
      .refine(isWebhookUrl, 'must be an https URL without user name or fragment')
      .describe('Where its messages are posted to.'),
    text,
  ),
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
  allowPrivate: field(
    z.boolean().describe('Whether its address may be of a private network, and plain http; no if left out.'),
    flag,
    () => false,
  ),
};

export interface DeclaredWebhook extends ValuesOf<typeof webhookFields> {
  readonly id: string;
}

/** A receiver of events, ready to be sent to. */
export interface Webhook extends Omit<DeclaredWebhook, 'secret'> {
  /** Null while it is not there: then its messages wait. */
  readonly secret: string | null;
  readonly proxy: ProxyServer | null;
}

/** A webhook that lacks something. */
export interface WebhookGap {
  readonly id: string;
  readonly detail: string;
}

interface WebhookSources {
  readonly secret: (source: SecretSource) => Result<string, string>;
  readonly proxyFor: (baseUrl: string) => ProxyServer | null;
}

/** A shorter one could be guessed from a single message. */
const secretCharsMin = 16;

/** Reads the secrets of webhooks. The server's proxy is not for addresses of the operator's own network. */
export function buildWebhooks(
  declared: readonly DeclaredWebhook[],
  sources: WebhookSources,
): { readonly webhooks: readonly Webhook[]; readonly gaps: readonly WebhookGap[] } {
  const gaps: WebhookGap[] = [];
  const webhooks = declared.map((webhook) => {
    const found = sources.secret(webhook.secret);
    const isLong = found.ok && found.value.length >= secretCharsMin;
    const detail = found.ok ? `has fewer than ${secretCharsMin} characters` : `is missing: ${found.error}`;
    if (!isLong) gaps.push({ id: webhook.id, detail: `its secret ${detail}` });
    const proxy = webhook.allowPrivate ? null : sources.proxyFor(webhook.url);
    return { ...webhook, secret: isLong ? found.value : null, proxy };
  });
  return { webhooks, gaps };
}

const weights: Readonly<Record<Severity, number>> = { info: 0, warning: 1, error: 2 };

/** True when a webhook wants to hear of events of this kind and weight. */
export function hearsOf({ kinds, severity }: Webhook, kind: AlertKind, weight: Severity): boolean {
  return (kinds?.includes(kind) ?? true) && weights[weight] >= weights[severity];
}

function isWebhookUrl(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.hash === '';
}
