import {
  choice,
  duration,
  integer,
  optionalText,
  origin,
  origins,
  type Setting,
  type SettingPlace,
  type SettingSection,
  size,
  text,
  toggle,
} from './setting.ts';

/** Names a setting once: flag and variable follow from the same words. */
function place(section: SettingSection, name: string, yaml: string | null, help: string): SettingPlace {
  const environment = `HEADGATE_${name.toUpperCase().replaceAll('-', '_')}`;
  return { section, flag: name, environment, yaml, help };
}

/** A place that only the environment has: arguments and configuration files are read by too many eyes. */
function secretPlace(name: string, help: string): SettingPlace {
  return { ...place('Secrets', name, null, help), flag: null };
}

const port = { min: 0, max: 65_535 };

/**
 * Every setting there is, in the order help and documentation show them. Flags win over the environment, the
 * environment over the configuration file, the file over the default.
 */
export const settingsTable = {
  deploymentName: text(
    place('Deployment', 'deployment-name', 'deployment.name', 'Name of this deployment, shown to people'),
    'Headgate',
    'a short name',
    'NAME',
  ),
  apiOrigin: origin(
    place('Deployment', 'api-origin', 'deployment.apiOrigin', 'Origin callers reach the API under'),
    'the address it listens on',
  ),
  consoleOrigin: origin(
    place(
      'Deployment',
      'console-origin',
      'deployment.consoleOrigin',
      'Origin people reach the console under',
    ),
    'the address it listens on',
  ),
  language: choice(
    place(
      'Deployment',
      'language',
      'deployment.language',
      'Language of the console for people who have not chosen one',
    ),
    ['en', 'zh-CN'],
    'en',
  ),

  apiHost: text(
    place('Addresses', 'api-host', 'settings.api.host', 'Address the API listens on'),
    '127.0.0.1',
    'an address of this machine, or 0.0.0.0 for all',
    'ADDRESS',
  ),
  apiPort: integer(
    place('Addresses', 'api-port', 'settings.api.port', 'Port of the API; 0 takes a free one'),
    8080,
    port,
  ),
  consoleHost: text(
    place(
      'Addresses',
      'console-host',
      'settings.console.host',
      'Address the console, health and metrics listen on',
    ),
    '127.0.0.1',
    'an address of this machine, or 0.0.0.0 for all',
    'ADDRESS',
  ),
  consolePort: integer(
    place(
      'Addresses',
      'console-port',
      'settings.console.port',
      'Port of the console, health and metrics; 0 takes a free one',
    ),
    8081,
    port,
  ),
  corsOrigins: origins(
    place(
      'Addresses',
      'cors-origins',
      'settings.api.corsOrigins',
      'Web pages that may call the API from a browser',
    ),
    'none',
  ),

  http: choice(
    place(
      'Addresses',
      'http',
      'settings.api.http',
      'Who reads the requests of the API: our own reader where they are plain, or `node:http` all of them',
    ),
    ['plain', 'node'],
    'plain',
  ),

  dataDir: text(
    place('Files', 'data-dir', null, 'Directory of the store and the pepper; made if missing'),
    './data',
    'a path',
    'PATH',
  ),
  configFile: optionalText(
    place('Files', 'config', null, 'Configuration file in YAML'),
    'headgate.yaml, if there is one',
    'a path',
    'PATH',
  ),
  readyFile: optionalText(
    place(
      'Files',
      'ready-file',
      null,
      'File to write origins, demo keys and models to, once everything listens',
    ),
    'none',
    'a path',
    'PATH',
  ),
  demo: toggle(
    place(
      'Files',
      'demo',
      null,
      'With no configuration and an empty store, make demo groups, keys and channels',
    ),
    true,
  ),

  bodyBytesMax: size(
    place('Limits', 'body-max', 'settings.limits.body', 'Largest request body, plain or decompressed'),
    '32MiB',
    { min: '1KiB', max: '1GiB' },
  ),
  headerBytesMax: size(
    place('Limits', 'header-max', 'settings.limits.header', 'Largest header block of a request'),
    '16KiB',
    { min: '1KiB', max: '1MiB' },
  ),
  answerBytesMax: size(
    place(
      'Limits',
      'answer-max',
      'settings.limits.answer',
      'Largest answer of an upstream that is JSON or translated, and most of a stream held back before its first content',
    ),
    '64MiB',
    { min: '64KiB', max: '1GiB' },
  ),
  frameBytesMax: size(
    place('Limits', 'frame-max', 'settings.limits.frame', 'Largest single event of an upstream stream'),
    '16MiB',
    { min: '16KiB', max: '256MiB' },
  ),
  attemptsMax: integer(
    place(
      'Limits',
      'attempts-max',
      'settings.limits.attempts',
      'Attempts of one call; one that is refused within a second counts half',
    ),
    3,
    { min: 1, max: 10 },
  ),
  connectionsMax: integer(
    place('Limits', 'connections-max', 'settings.limits.connections', "Callers' connections open at once"),
    20_000,
    { min: 1, max: 1_000_000 },
  ),

  connectTimeoutMs: duration(
    place('Time-outs', 'connect-timeout', 'settings.timeouts.connect', 'Connecting to an upstream'),
    '5s',
    { min: '10ms', max: '5m' },
  ),
  firstContentTimeoutMs: duration(
    place(
      'Time-outs',
      'first-content-timeout',
      'settings.timeouts.firstContent',
      'From sending a request to its first content',
    ),
    '30s',
    { min: '10ms', max: '1h' },
  ),
  firstContentReasoningTimeoutMs: duration(
    place(
      'Time-outs',
      'first-content-reasoning-timeout',
      'settings.timeouts.firstContentReasoning',
      'The same, for models that think first',
    ),
    '180s',
    { min: '10ms', max: '1h' },
  ),
  wholeAnswerTimeoutMs: duration(
    place(
      'Time-outs',
      'whole-answer-timeout',
      'settings.timeouts.wholeAnswer',
      'From sending a request to the end of an answer that is not streamed',
    ),
    '10m',
    { min: '10ms', max: '1h' },
  ),
  stallTimeoutMs: duration(
    place('Time-outs', 'stall-timeout', 'settings.timeouts.stall', 'Silence of an upstream within an answer'),
    '60s',
    { min: '10ms', max: '1h' },
  ),
  keepAliveMs: duration(
    place(
      'Time-outs',
      'keep-alive',
      'settings.timeouts.keepAlive',
      'Silence towards a caller who waits for a stream, until a frame without content tells it that the call lives',
    ),
    '10s',
    { min: '10ms', max: '1h' },
  ),
  callTimeoutMs: duration(
    place(
      'Time-outs',
      'call-timeout',
      'settings.timeouts.call',
      'The whole call, all attempts together; an answer must begin within an even share of what is left',
    ),
    '10m',
    { min: '10ms', max: '24h' },
  ),
  headersTimeoutMs: duration(
    place('Time-outs', 'headers-timeout', 'settings.timeouts.headers', "Receiving a request's headers"),
    '10s',
    { min: '100ms', max: '5m' },
  ),
  bodyTimeoutMs: duration(
    place('Time-outs', 'body-timeout', 'settings.timeouts.body', "Receiving a request's body"),
    '60s',
    { min: '100ms', max: '1h' },
  ),
  callerIdleTimeoutMs: duration(
    place('Time-outs', 'idle-timeout', 'settings.timeouts.idle', "Keeping a caller's idle connection open"),
    '75s',
    { min: '100ms', max: '1h' },
  ),
  drainTimeoutMs: duration(
    place('Time-outs', 'drain-timeout', 'settings.timeouts.drain', 'Finishing running calls after SIGTERM'),
    '30s',
    { min: '0s', max: '1h' },
  ),

  upstreamConnectionsMax: integer(
    place(
      'Upstreams',
      'upstream-connections-max',
      'settings.upstream.connections',
      'Connections per channel',
    ),
    10_000,
    { min: 1, max: 65_535 },
  ),
  upstreamIdleTimeoutMs: duration(
    place(
      'Upstreams',
      'upstream-idle-timeout',
      'settings.upstream.idle',
      'Retiring an idle connection to an upstream',
    ),
    '4s',
    { min: '10ms', max: '1h' },
  ),
  mediaAllowPrivate: toggle(
    place(
      'Upstreams',
      'media-allow-private',
      'settings.upstream.mediaAllowPrivate',
      'Fetching images and files that callers name by URL from private and loopback addresses, too',
    ),
    false,
  ),

  idleProbeMs: duration(
    place(
      'Upstreams',
      'idle-probe',
      'settings.routing.idleProbe',
      'Asking a channel for one token when nobody has called it for so long; 0s never asks',
    ),
    '10m',
    { min: '0s', max: '24h' },
  ),

  ledgerDurability: choice(
    place(
      'Ledger',
      'ledger-durability',
      'settings.ledger.durability',
      'Whether the end of an answer waits for its entry to be on disk, or the entry follows soon after',
    ),
    ['strict', 'soon'],
    'strict',
  ),
  unpricedModels: choice(
    place(
      'Ledger',
      'unpriced-models',
      'settings.ledger.unpricedModels',
      'Calls of a model without a price: refused, or served unbilled with the entry saying so',
    ),
    ['refuse', 'serve'],
    'refuse',
  ),

  logLevel: choice(
    place('Logs', 'log-level', 'settings.log.level', 'Least severe line that is written'),
    ['debug', 'info', 'warn', 'error'],
    'info',
  ),
  logFormat: choice(
    place(
      'Logs',
      'log-format',
      'settings.log.format',
      'Lines for people or for machines; auto looks whether a person reads them',
    ),
    ['auto', 'pretty', 'json'],
    'auto',
  ),
  callLog: toggle(
    place('Logs', 'call-log', 'settings.log.calls', 'One line per call, without its content'),
    true,
  ),

  pepper: optionalText(
    secretPlace(
      'pepper',
      "Secret mixed into the hashes of keys, instead of the data directory's own; VERSION:SECRET pairs, newest first, separated by commas",
    ),
    'the file `pepper` in the data directory',
    'text of 32 characters or more',
    'SECRET',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settingsTable;

type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;

/** Every setting with its value. Names end in their unit: `…Ms`, `…BytesMax`. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingsTable)[Name]> };

/** The rows of the table as pairs, in order. */
export function settingRows(): readonly (readonly [SettingName, Setting<unknown>])[] {
  // Object.entries widens the names of a table that is closed.
  return Object.entries(settingsTable) as readonly (readonly [SettingName, Setting<unknown>])[];
}
