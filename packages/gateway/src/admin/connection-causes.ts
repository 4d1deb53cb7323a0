import type { UpstreamRefusal } from '@headgate/protocols';
import type { UpstreamFailure } from '../ports/upstream.ts';

/** Words for operators, of whom most have not seen it before: why it fails, and what to do about it. */
export interface CauseWords {
  readonly words: string;
  readonly fix: string;
}

/** Everything that may keep a channel from answering a test. docs/administration.md has this table, and the console its translation. */
export const connectionCauses = {
  'address-incomplete': {
    words: 'the address has gaps',
    fix: 'write baseUrl with your own values in the place of the names in braces',
  },
  'credential-missing': {
    words: 'there is no credential',
    fix: 'give a secret, or name the variable, file or command that has it',
  },
  dns: {
    words: 'no such name in DNS',
    fix: 'look at the host of baseUrl, and at the resolver of this machine',
  },
  refused: {
    words: 'nobody listens there',
    fix: 'look at host and port of baseUrl, and whether the server runs',
  },
  network: {
    words: 'there is no way to that network',
    fix: 'look at routes and firewalls, or name a proxy',
  },
  tls: {
    words: 'TLS fails',
    fix: 'look at https in baseUrl, at the clock of this machine, and at NODE_EXTRA_CA_CERTS for a certificate of your own',
  },
  proxy: {
    words: 'the proxy does not let it through',
    fix: 'look at the address, user and password of the proxy, and at what it allows',
  },
  'private-address': {
    words: 'it leads to a private address',
    fix: 'allow it with allowPrivate: true if that is meant',
  },
  'connect-timeout': {
    words: 'the connection is not accepted in time',
    fix: 'look at the port of baseUrl, at firewalls and at the proxy',
  },
  timeout: {
    words: 'it does not answer in time',
    fix: 'ask again, or raise the time-out for first content of a model this slow',
  },
  reset: {
    words: 'it breaks the connection',
    fix: 'ask again; if it stays so, look at http or https in baseUrl and at what stands between',
  },
  redirect: {
    words: 'it sends elsewhere, and no redirect is followed',
    fix: 'write the address that it names into baseUrl',
  },
  protocol: {
    words: 'it does not answer in this protocol',
    fix: 'look at the path of baseUrl, and whether the provider speaks this protocol there',
  },
  'web-page': {
    words: 'a web page answers in its place',
    fix: 'look at host and path of baseUrl, and at what stands between, such as a firewall or a page to sign in at',
  },
  unauthorized: {
    words: 'the credential is refused',
    fix: 'put a valid one into its place; look for blanks, and for a key of another environment or region',
  },
  forbidden: {
    words: 'the credential may not do this',
    fix: 'look at what the key may do, at its project or region, and at addresses that the provider allows',
  },
  payment: {
    words: 'the provider wants to be paid',
    fix: 'add credit to the account, or settle its bill',
  },
  quota: {
    words: 'the quota of the account is used up',
    fix: 'raise the quota there, or use another account',
  },
  'rate-limited': {
    words: 'it limits the rate of calls',
    fix: 'wait and ask again, or raise the limit there',
  },
  'model-not-found': {
    words: 'it does not know the model',
    fix: 'look at the name of the model there (upstream), and whether this account may use it',
  },
  'not-found': {
    words: 'the address is not known there',
    fix: 'look at the path of baseUrl, such as a missing or doubled /v1',
  },
  rejected: {
    words: 'it refuses the request itself',
    fix: 'read its words; the model may be of another kind, or lack a setting of the account',
  },
  'upstream-error': {
    words: 'it has trouble of its own',
    fix: 'ask again later, and look at its status page',
  },
} as const satisfies Readonly<Record<string, CauseWords>>;

export type ConnectionCause = keyof typeof connectionCauses;

/** The usual words of systems for what went wrong on the way. */
const unreachableCauses: readonly (readonly [RegExp, ConnectionCause])[] = [
  [/^the proxy /, 'proxy'],
  [/ENOTFOUND|EAI_AGAIN|ENODATA/, 'dns'],
  [/ECONNREFUSED/, 'refused'],
  [/ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL/, 'network'],
  [/CERT|SSL|TLS|self-signed|EPROTO|wrong version|altname/i, 'tls'],
];

/** The cause of an exchange that ended without an answer. */
export function causeOfFailure({ kind, detail }: UpstreamFailure): ConnectionCause {
  const causes = {
    unreachable: unreachableCauses.find(([pattern]) => pattern.test(detail))?.[1] ?? 'network',
    'connect-timeout': 'connect-timeout',
    reset: 'reset',
    garbled: 'protocol',
    'forbidden-address': 'private-address',
    aborted: 'timeout',
  } as const satisfies Record<UpstreamFailure['kind'], ConnectionCause>;
  return causes[kind];
}

const quotaWords = /quota|insufficient|balance|credit|billing|exceeded your current/i;

/** The cause of an answer that is a refusal. */
export function causeOfRefusal({ kind, status, message, code, type }: UpstreamRefusal): ConnectionCause {
  const said = [message, code, type].join(' ');
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 402) return 'payment';
  if (kind === 'model-missing' && status !== 405) return 'model-not-found';
  if (status === 429) return quotaWords.test(said) ? 'quota' : 'rate-limited';
  if (status === 401) return 'unauthorized';
  if (status === 403) return quotaWords.test(said) ? 'quota' : 'forbidden';
  if (status === 404 || status === 405) return /model/i.test(said) ? 'model-not-found' : 'not-found';
  if (kind === 'credential') return quotaWords.test(said) ? 'quota' : 'unauthorized';
  if (kind === 'rate-limited') return 'rate-limited';
  if (status >= 500 || kind === 'overloaded' || kind === 'server-error') return 'upstream-error';
  return kind === 'garbled' ? 'protocol' : 'rejected';
}
