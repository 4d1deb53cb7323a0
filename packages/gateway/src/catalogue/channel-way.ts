import { z } from 'zod';
import { formatDuration, readDuration } from './duration.ts';
import { type CellForm, convertedOrUnset, type Field, integer, jsonList } from './fields.ts';
import { isChannelHeader } from './header-names.ts';
import {
  readSecretSource,
  type SecretSource,
  type WrittenSecret,
  writeSecretSource,
  writtenPlainSecret,
} from './secret-source.ts';

/** A header of every call of a channel. */
export interface ChannelHeader {
  /** In lower case. */
  readonly name: string;
  readonly value: string | SecretSource;
}

const headersMax = 32;

const headerName = z
  .string()
  .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header in lower case')
  .refine(
    isChannelHeader,
    'cannot be set: it belongs to one connection, carries a credential, tells who called, or is set for each call',
  );

const headerValue = z.union(
  [
    z
      .string()
      .regex(
        /^[\x21-\x7e]([\x20-\x7e]{0,4094}[\x21-\x7e])?$/,
        'must be text of plain characters on one line',
      ),
    writtenPlainSecret,
  ],
  'must be text of plain characters on one line, or where it is: { environment: NAME } or { file: /PATH }',
);

type WrittenHeaders = Readonly<Record<string, string | WrittenSecret>>;

export const headersField: Field<readonly ChannelHeader[], WrittenHeaders> = {
  schema: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= headersMax, `has more than ${headersMax} headers`)
    .describe('Headers of every call there, in the place of a caller’s of the same name; none if left out.'),
  cell: jsonList(),
  absent: () => [],
  fromFile: (written) =>
    Object.entries(written).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : readSecretSource(value),
    })),
  toFile: (headers) =>
    Object.fromEntries(
      headers.map(({ name, value }) => [name, typeof value === 'string' ? value : writeSecretSource(value)]),
    ),
};

/** The proxy that a channel is reached through, as it is declared; `none` where it is not to have the server's. */
export type DeclaredProxy =
  | 'none'
  | { readonly url: string; readonly user: string | null; readonly password: SecretSource | null };

const proxyUrl = z
  .string()
  .refine(isProxyUrl, 'must be the URL of a proxy such as http://proxy.example:3128, without user and path');

const proxyForms = 'must be none, a URL such as http://proxy.example:3128, or { url, user, password }';

const proxyObject = z
  .strictObject({
    url: proxyUrl.describe('Scheme, host and port; https where the proxy itself is spoken to in TLS.'),
    user: z
      .string()
      .regex(/^[\x21-\x39\x3b-\x7e]{1,256}$/, 'must be plain characters without a colon')
      .describe('The user that the proxy knows us by; none if left out.')
      .exactOptional(),
    password: writtenPlainSecret.exactOptional().describe('Where the password of the user is.'),
  })
  .refine(
    ({ user, password }) => password === undefined || user !== undefined,
    'has a password without a user',
  );

type WrittenProxy = string | z.infer<typeof proxyObject>;

const asJson: CellForm<DeclaredProxy> = {
  write: (proxy) => JSON.stringify(proxy),
  read: (cell) => JSON.parse(String(cell)) as DeclaredProxy,
};

export const proxyField: Field<DeclaredProxy | null, WrittenProxy> = convertedOrUnset(
  z
    .union([z.literal('none'), proxyUrl, proxyObject], proxyForms)
    .describe('HTTP proxy that connections there go through, by CONNECT; that of the server if left out.'),
  asJson,
  (written) => {
    if (written === 'none') return 'none';
    if (typeof written === 'string') return { url: written, user: null, password: null };
    const { url, user = null, password } = written;
    return { url, user, password: password === undefined ? null : readSecretSource(password) };
  },
  (proxy) => {
    if (proxy === 'none') return 'none';
    const { url, user, password } = proxy;
    if (user === null) return url;
    return { url, user, ...(password === null ? {} : { password: writeSecretSource(password) }) };
  },
);

/** Scheme, host and port of a proxy, and nothing else: a password would be read by all who read the file. */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return false;
  return url.hostname !== '' && url.pathname === '/' && url.search === '' && url.hash === '';
}

const [shortestMs, longestMs] = [10, 86_400_000];

function timeOut(what: string): Field<number | null, string> {
  const isTimeOut = (text: string): boolean => {
    const ms = readDuration(text);
    return ms !== null && ms >= shortestMs && ms <= longestMs;
  };
  return convertedOrUnset(
    z
      .string()
      .refine(isTimeOut, 'must be a duration such as 500ms, 30s or 10m, from 10ms to 24h')
      .describe(`${what}; as the server has it if left out.`),
    integer,
    (text) => readDuration(text) ?? 0,
    formatDuration,
  );
}

/** The time-outs of one channel, in milliseconds; null where the server's hold. They stand before what is known of its models. */
export const timeoutFields = {
  connectMs: {
    ...timeOut('Connecting to it, its proxy and TLS included'),
    member: 'connect',
    column: 'connect_timeout_ms',
  },
  firstContentMs: {
    ...timeOut('From sending a request to its first content, whether or not the model thinks'),
    member: 'firstContent',
    column: 'first_content_timeout_ms',
  },
  stallMs: { ...timeOut('Silence within an answer'), member: 'stall', column: 'stall_timeout_ms' },
  totalMs: {
    ...timeOut('From sending a request to the end of its answer, streamed or not'),
    member: 'total',
    column: 'total_timeout_ms',
  },
};
