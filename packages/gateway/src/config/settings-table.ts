import {
  choice,
  currencyCode,
  duration,
  exactRate,
  type Given,
  given,
  integer,
  issuer,
  optionalText,
  origin,
  origins,
  proxyForm,
  ranges,
  roleRules,
  type Setting,
  type SettingSection,
  size,
  text,
  toggle,
} from './setting.ts';
import { siblings } from './sibling-shape.ts';

/**
 * The settings of a section, with the members of the configuration file below `root`. Flag and variable follow from a setting's
 * name without its unit. A secret has no flag: arguments are read by too many eyes.
 */
function inSection<Rows extends Readonly<Record<string, Given<unknown>>>>(
  section: SettingSection,
  root: string | null,
  rows: Rows,
) {
  const places = Object.entries(rows).map(([name, { yaml, ...row }]) => {
    const words = name
      .replace(/Ms$|Bytes(?=Max$)/, '')
      .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const flag = section === 'Secrets' ? null : words;
    const environment = `HEADGATE_${words.toUpperCase().replaceAll('-', '_')}`;
    return [name, { ...row, section, flag, environment, yaml: yaml === null ? null : `${root}.${yaml}` }];
  });
  // Object.fromEntries forgets which row is whose.
  return Object.fromEntries(places) as {
    readonly [Name in keyof Rows]: Rows[Name] extends Given<infer Value> ? Setting<Value> : never;
  };
}

/**
 * Every setting there is, in the order help and documentation show them. Flags win over the environment, the environment over the
 * configuration file, the file over the console, the console over the default. A row that does not say how it changes takes a start.
 */
export const settingsTable = {
  ...inSection('Deployment', 'deployment', {
    deploymentName: given(
      'name',
      'Name of this deployment, shown to people',
      text('Headgate', 'a short name', 'NAME'),
      'now',
    ),
    apiOrigin: given(
      'apiOrigin',
      'Origin callers reach the API under',
      origin('the address it listens on'),
      'now',
    ),
    consoleOrigin: given(
      'consoleOrigin',
      'Origin people reach the console under',
      origin('the address it listens on'),
    ),
    language: given(
      'language',
      'Language of the console for people who have not chosen one',
      choice(['en', 'zh-CN'], 'en'),
      'now',
    ),
    currency: given(
      'currency',
      'Currency that the console shows amounts in, by its ISO code; all amounts are kept and billed in USD',
      currencyCode('USD'),
      'now',
    ),
    currencyPerUsd: given(
      'currencyPerUsd',
      'Units of that currency for one USD, as shown; nothing is billed by it',
      exactRate('1'),
      'now',
    ),
    siblings: given('siblings', 'Other deployments that people are shown the way to', siblings(), 'now'),
  }),
  ...inSection('Addresses', 'settings', {
    apiHost: given(
      'api.host',
      'Address the API listens on',
      text('127.0.0.1', 'an address of this machine, or 0.0.0.0 for all', 'ADDRESS'),
      'address',
    ),
    apiPort: given('api.port', 'Port of the API; 0 takes a free one', integer(8080, 0, 65_535), 'address'),
    consoleHost: given(
      'console.host',
      'Address the console, health and metrics listen on',
      text('127.0.0.1', 'an address of this machine, or 0.0.0.0 for all', 'ADDRESS'),
      'address',
    ),
    consolePort: given(
      'console.port',
      'Port of the console, health and metrics; 0 takes a free one',
      integer(8081, 0, 65_535),
      'address',
    ),
    corsOrigins: given('api.corsOrigins', 'Web pages that may call the API from a browser', origins('none')),
    trustedProxies: given(
      'api.trustedProxies',
      'Proxies in front of the API and the console whose `x-forwarded-for` says where a caller is: for keys bound to addresses, guesses at passwords and the audit',
      ranges('none'),
    ),
    http: given(
      'api.http',
      'Who reads the requests of the API: our own reader where they are plain, or `node:http` all of them',
      choice(['plain', 'node'], 'plain'),
    ),
  }),
  ...inSection('Sign-in', 'settings', {
    oidcIssuer: given(
      'oidc.issuer',
      'OpenID Connect provider that people of the console may sign in at; its answer comes back to `/api/v1/session/provider/callback` on the console origin',
      issuer('none'),
    ),
    oidcClientId: given(
      'oidc.clientId',
      'Name of the console at that provider',
      optionalText('none', 'text as the provider gives it', 'ID'),
    ),
    oidcClientSecretFile: given(
      'oidc.clientSecretFile',
      'File with the secret of the console at that provider, read at the start; HEADGATE_OIDC_CLIENT_SECRET goes before it, and a public client has none',
      optionalText('none', 'a path', 'PATH'),
      'path',
    ),
    oidcName: given(
      'oidc.name',
      'Name of that provider on the button',
      text('single sign-on', 'a short name', 'NAME'),
    ),
    oidcAllowPrivate: given(
      'oidc.allowPrivate',
      'Reaching that provider at private and loopback addresses, also by plain http',
      toggle(false),
    ),
    oidcRoleClaim: given(
      'oidc.roleClaim',
      'Claim of that provider that roles follow from, such as groups; people whom it gives a role need no invitation',
      optionalText('none', 'the name of a claim', 'CLAIM'),
    ),
    oidcRoles: given(
      'oidc.roles',
      'Roles by value of that claim: VALUE=operator, or VALUE=admin, member or viewer of an account',
      roleRules(),
    ),
  }),
  ...inSection('Files', null, {
    dataDir: given(
      null,
      'Directory of the store and the pepper; made if missing',
      text('./data', 'a path', 'PATH'),
      'path',
    ),
    config: given(
      null,
      'Configuration file in YAML',
      optionalText('headgate.yaml, if there is one', 'a path', 'PATH'),
      'path',
    ),
    readyFile: given(
      null,
      'File to write origins, demo keys and models to, once everything listens',
      optionalText('none', 'a path', 'PATH'),
      'path',
    ),
    demo: given(
      null,
      'With no configuration and an empty store, make demo groups, keys and channels',
      toggle(true),
      'first-start',
    ),
    demoHistory: given(
      null,
      'In a new demo, fill two weeks of simulated history, so that every page has something to show',
      toggle(true),
      'first-start',
    ),
  }),
  ...inSection('Limits', 'settings.limits', {
    bodyBytesMax: given('body', 'Largest request body, plain or decompressed', size('32MiB', '1KiB', '1GiB')),
    headerBytesMax: given('header', 'Largest header block of a request', size('16KiB', '1KiB', '1MiB')),
    memoryBytesMax: given(
      'memory',
      'Bytes of requests and answers held at once, of all calls; a key may hold as much as is left, an account twice that',
      size('512MiB', '16MiB', '256GiB'),
    ),
    answerBytesMax: given(
      'answer',
      'Largest answer of an upstream that is JSON or translated, and most of a stream held back before its first content',
      size('64MiB', '64KiB', '1GiB'),
    ),
    frameBytesMax: given(
      'frame',
      'Largest single event of an upstream stream',
      size('16MiB', '16KiB', '256MiB'),
    ),
    attemptsMax: given(
      'attempts',
      'Attempts of one call; one that is refused within a second counts half',
      integer(3, 1, 10),
    ),
    hangUpsMax: given(
      'hangUps',
      'Answers read on at once to their usage whose callers have left; beyond, usage is estimated',
      integer(256, 0, 100_000),
    ),
    connectionsMax: given('connections', "Callers' connections open at once", integer(20_000, 1, 1_000_000)),
  }),
  ...inSection('Time-outs', 'settings.timeouts', {
    connectTimeoutMs: given('connect', 'Connecting to an upstream', duration('5s', '10ms', '5m')),
    firstContentTimeoutMs: given(
      'firstContent',
      'From sending a request to its first content',
      duration('30s', '10ms', '1h'),
    ),
    firstContentReasoningTimeoutMs: given(
      'firstContentReasoning',
      'The same, for models that think first',
      duration('180s', '10ms', '1h'),
    ),
    wholeAnswerTimeoutMs: given(
      'wholeAnswer',
      'From sending a request to the end of an answer that is not streamed',
      duration('10m', '10ms', '1h'),
    ),
    stallTimeoutMs: given('stall', 'Silence of an upstream within an answer', duration('60s', '10ms', '1h')),
    keepAliveMs: given(
      'keepAlive',
      'Silence towards a caller who waits for a stream, until a frame without content tells it that the call lives',
      duration('10s', '10ms', '1h'),
    ),
    callTimeoutMs: given(
      'call',
      'The whole call, all attempts together; an answer must begin within an even share of what is left',
      duration('10m', '10ms', '24h'),
    ),
    hangUpTimeoutMs: given(
      'hangUp',
      'Reading an answer on to its usage whose caller has left',
      duration('2m', '0s', '1h'),
    ),
    headersTimeoutMs: given('headers', "Receiving a request's headers", duration('10s', '100ms', '5m')),
    bodyTimeoutMs: given('body', "Receiving a request's body", duration('60s', '100ms', '1h')),
    idleTimeoutMs: given('idle', "Keeping a caller's idle connection open", duration('75s', '100ms', '1h')),
    drainTimeoutMs: given('drain', 'Finishing running calls after SIGTERM', duration('30s', '0s', '1h')),
  }),
  ...inSection('Upstreams', 'settings', {
    upstreamConnectionsMax: given(
      'upstream.connections',
      'Connections per channel',
      integer(10_000, 1, 65_535),
    ),
    upstreamIdleTimeoutMs: given(
      'upstream.idle',
      'Retiring an idle connection to an upstream',
      duration('4s', '10ms', '1h'),
    ),
    upstreamProxy: given(
      'upstream.proxy',
      'Proxy that channels without one of their own are reached through, by CONNECT; `environment` follows HTTPS_PROXY and NO_PROXY',
      proxyForm(),
    ),
    mediaAllowPrivate: given(
      'upstream.mediaAllowPrivate',
      'Fetching images and files that callers name by URL from private and loopback addresses, too',
      toggle(false),
    ),
    idleProbeMs: given(
      'routing.idleProbe',
      'Asking a channel for one token when nobody has called it for so long; 0s never asks',
      duration('10m', '0s', '24h'),
    ),
  }),
  ...inSection('Status', 'settings.status', {
    statusDirectory: given(
      'directory',
      'Directory that the files of the public status page are written to, for other web servers; none writes none',
      optionalText('`public` in the data directory', 'a path, or none', 'PATH'),
      'path',
    ),
    statusProbes: given(
      'probes',
      'Probes of one token, at the most, in five minutes, for models and channels that too few calls tell of; 0 sends none',
      integer(10, 0, 1000),
    ),
  }),
  ...inSection('Ledger', 'settings.ledger', {
    ledgerDurability: given(
      'durability',
      'Whether the end of an answer waits for its entry to be on disk, or the entry follows soon after',
      choice(['strict', 'soon'], 'strict'),
    ),
    unpricedModels: given(
      'unpricedModels',
      'Models without a price: hidden from callers (refuse), or served unbilled with the entry saying so (bill-zero, or serve)',
      choice(['refuse', 'bill-zero', 'serve'], 'refuse'),
    ),
    unpricedTerms: given(
      'unpricedTerms',
      'Requests for a service tier, a region or a hosted tool that the model has no price for: refused, or billed at the standard price with an alert (standard)',
      choice(['refuse', 'standard'], 'refuse'),
    ),
  }),
  ...inSection('Logs', 'settings.log', {
    logLevel: given(
      'level',
      'Least severe line that is written',
      choice(['debug', 'info', 'warn', 'error'], 'info'),
      'now',
    ),
    logFormat: given(
      'format',
      'Lines for people or for machines; auto looks whether a person reads them',
      choice(['auto', 'pretty', 'json'], 'auto'),
    ),
    callLog: given('calls', 'One line per call, without its content', toggle(true), 'now'),
  }),
  ...inSection('Secrets', null, {
    pepper: given(
      null,
      "Secret mixed into the hashes of keys, instead of the data directory's own; VERSION:SECRET pairs, newest first, separated by commas",
      optionalText('the file `pepper` in the data directory', 'text of 32 characters or more', 'SECRET'),
      'process',
    ),
    upstreamProxyCredential: given(
      null,
      'User and password for the proxy of the server',
      optionalText('none', 'USER:PASSWORD', 'SECRET'),
    ),
    oidcClientSecret: given(
      null,
      'Secret of the console at the OpenID Connect provider',
      optionalText('the file that oidc-client-secret-file names', 'text as the provider gives it', 'SECRET'),
    ),
  }),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settingsTable;

type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;

/** Every setting with its value. Names end in their unit: `…Ms`, `…BytesMax`. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingsTable)[Name]> };

/** The rows of the table as pairs, in order. */
export function settingRows(): readonly (readonly [SettingName, Setting<unknown>])[] {
  // Object.entries widens the names of a table that is closed.
  return Object.entries(settingsTable) as readonly (readonly [SettingName, Setting<unknown>])[];
}
