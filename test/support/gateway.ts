import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { protocols } from '@headgate/protocols';
import { generateKey } from '../../packages/gateway/src/admin/keys.ts';
import { readConfigurationFile } from '../../packages/gateway/src/config/configuration-file.ts';
import { environmentOf, readSettings } from '../../packages/gateway/src/config.ts';
import { type RunningGateway, startGateway } from '../../packages/gateway/src/main.ts';
import type { OpenLane } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../packages/gateway/src/store/sqlite/same-thread-lane.ts';

/** A channel of a test: which upstream it leads to and under which names it serves models there. */
export interface TestChannel {
  readonly id: string;
  /** Lower comes first; its place in the list if left out, so that what is tried first is no matter of choice. */
  readonly priority?: number;
  readonly origin: string;
  /** Public id → name at the upstream. */
  readonly models: Readonly<Record<string, string>>;
  /** USD per million tokens, input and output alike, or by class as in the file; 1 if left out. */
  readonly cost?: string | Readonly<Record<string, string>>;
  /** Protocols it speaks and their paths; those of the simulator if left out. */
  readonly protocols?: Readonly<Record<string, string>>;
  readonly dialect?: Readonly<Record<string, unknown>>;
  /** Sent as a bearer token; without one the provider asks for none. */
  readonly credential?: string;
  /** Several, in the place of one; each is named after the channel and its place. */
  readonly credentials?: readonly string[];
  readonly drain?: boolean;
  readonly maxConcurrency?: number;
  readonly hangUp?: 'drain' | 'estimate' | 'always';
  /** Tokens its models take there. */
  readonly contextWindow?: number;
  /** The provider's name. */
  readonly name?: string;
  readonly alias?: string;
}

/**
 * A channel for each of the models, named like it: whatever becomes of the channel's health, its limits or its credential,
 * no other case knows of it. Model ids must do as ids of channels.
 */
export function channelEach(origin: string, models: TestChannel['models']): readonly TestChannel[] {
  return Object.entries(models).map(([model, upstream]) => ({
    id: model,
    origin,
    models: { [model]: upstream },
  }));
}

export interface TestGatewayOptions {
  readonly channels: readonly TestChannel[];
  /** Flags of `headgate serve`, without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Public model ids → their prices as in the file; those of the channels' models that are left out cost 1 and 2. */
  readonly prices?: Readonly<Record<string, Readonly<Record<string, string | object>> | readonly object[]>>;
  /** Models that think first. */
  readonly reasoning?: readonly string[];
  /** The completions group wants a second channel asked while the first is silent. */
  readonly hedging?: boolean;
  /** Every group has its broken streams continued elsewhere. */
  readonly rescue?: boolean;
  /** The aim that counts most in every group; `balanced` if left out. */
  readonly preset?: 'cost' | 'balanced' | 'latency';
  /** The part of the list price that the completions group pays; 1 if left out. */
  readonly multiplier?: string;
  /** A lane of a test's own to the store. */
  readonly openLane?: OpenLane;
  /** Accounts whose keys see their balance and each other. */
  readonly openAccounts?: readonly string[];
  /** What accounts pay less, as a file says it. */
  readonly discounts?: Readonly<Record<string, unknown>>;
  /** More keys, by id. */
  readonly moreKeys?: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly models?: readonly string[];
        readonly expires?: string;
        readonly strict?: boolean;
        readonly addressRanges?: readonly string[];
        /** The default one if left out. */
        readonly account?: string;
        /** The completions group if left out. */
        readonly group?: Platform;
        /** As in the file. */
        readonly budgets?: object;
        readonly limits?: object;
      }
    >
  >;
  /** Members of accounts and groups beside those that all have, as in the file. */
  readonly accounts?: Readonly<Record<string, object>>;
  readonly groups?: Readonly<Partial<Record<Platform, object>>>;
}

export interface TestGateway extends RunningGateway {
  /** Keys by platform. */
  readonly keys: Readonly<Record<Platform, string>>;
  /** The keys of `moreKeys`, by id. */
  readonly moreKeys: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** Checks every invariant of the ledger, then stops. Rejects with what is broken. */
  [Symbol.asyncDispose](): Promise<void>;
}

type Platform = 'completions' | 'messages' | 'native';

/** Starts a whole gateway in this process, on free ports and a data directory of its own. */
export async function openTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-test-'));
  const configFile = join(dataDir, 'headgate.yaml');
  const keys = { completions: generateKey(), messages: generateKey(), native: generateKey() };
  const moreKeys = Object.fromEntries(Object.keys(options.moreKeys ?? {}).map((id) => [id, generateKey()]));
  const text = configurationText(options);
  writeFileSync(configFile, text);
  const flags = {
    'data-dir': dataDir,
    config: configFile,
    'api-port': '0',
    'console-port': '0',
    'log-level': 'error',
    'call-log': 'false',
    // Probes that nothing asked for would be among the requests that tests count.
    'idle-probe': '0s',
    'status-probes': '0',
    ...httpFlags(),
    ...options.flags,
  };
  const secrets = [
    ...Object.entries({ ...keys, ...moreKeys }).map(([id, key]) => [keyVariable(id), key] as const),
    ...options.channels.flatMap(secretsOf),
  ];
  const environment = environmentOf(Object.fromEntries(secrets));
  const file = expectValue(readConfigurationFile(text, configFile));
  const settings = expectValue(readSettings({ flags, environment, file }));
  const given = {
    file,
    openLane: options.openLane ?? ((...lane: Parameters<OpenLane>) => new SameThreadLane(...lane)),
    logFile: join(dataDir, 'log'),
  };
  const gateway = expectValue(await startGateway(settings, environment, given));
  return {
    ...gateway,
    keys,
    moreKeys,
    dataDir,
    async [Symbol.asyncDispose]() {
      await gateway.store.ledger.flush();
      const { findings } = await gateway.store.verify();
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
      if (findings.length > 0)
        throw new Error(`the ledger is not sound: ${JSON.stringify(findings, null, 2)}`);
    },
  };
}

/** Which reader of requests the tests run on: `HEADGATE_TEST_HTTP` names it; the default one if it does not. */
export function httpFlags(): Readonly<Record<string, string>> {
  const reader = process.env['HEADGATE_TEST_HTTP'];
  return reader === undefined ? {} : { http: reader };
}

function keyVariable(id: string): string {
  return `TEST_KEY_${variableWord(id)}`;
}

function credentialVariable(id: string): string {
  return `TEST_CREDENTIAL_${variableWord(id)}`;
}

/** By their variables. */
function secretsOf({
  id,
  credential,
  credentials = [],
}: TestChannel): readonly (readonly [string, string])[] {
  const several = credentials.map((secret, place) => [credentialVariable(`${id}-${place}`), secret] as const);
  return credential === undefined ? several : [[credentialVariable(id), credential]];
}

function variableWord(id: string): string {
  return id.toUpperCase().replaceAll(/[-.]/g, '_');
}

function expectValue<Value>(result: { ok: true; value: Value } | { ok: false; error: unknown }): Value {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.error, null, 2));
}

/** The configuration file of a test, as an operator would write it. JSON is YAML. */
export function configurationText({
  channels,
  prices,
  multiplier,
  moreKeys,
  openAccounts,
  discounts,
  reasoning,
  hedging,
  rescue = false,
  preset = 'balanced',
  accounts,
  groups,
}: TestGatewayOptions): string {
  const modelIds = [...new Set(channels.flatMap(({ models }) => Object.keys(models)))];
  const platforms = ['completions', 'messages', 'native'] as const;
  const rescued = rescue ? { rescue: 'continue' } : {};
  return JSON.stringify(
    {
      providers: Object.fromEntries(channels.map((channel) => [`p-${channel.id}`, providerOf(channel)])),
      models: Object.fromEntries(modelIds.map((id) => [id, { reasoning: reasoning?.includes(id) ?? false }])),
      prices: { ...Object.fromEntries(modelIds.map((id) => [id, { input: '1', output: '2' }])), ...prices },
      channels: Object.fromEntries(channels.map((channel, place) => [channel.id, channelOf(channel, place)])),
      groups: {
        ...Object.fromEntries(
          platforms.map((platform) => [
            platform,
            { platform, routing: { preset, ...rescued }, ...groups?.[platform] },
          ]),
        ),
        completions: {
          platform: 'completions',
          ...(multiplier === undefined ? {} : { multiplier }),
          routing: { preset, ...rescued, ...(hedging === undefined ? {} : { hedging }) },
          ...groups?.completions,
        },
      },
      accounts: {
        ...Object.fromEntries(
          Object.values(moreKeys ?? {}).flatMap(({ account }) =>
            account === undefined
              ? []
              : [
                  [
                    account,
                    {
                      ...(openAccounts?.includes(account) === true
                        ? { showBalance: true, showKeys: true }
                        : {}),
                      ...(discounts?.[account] === undefined ? {} : { discount: discounts[account] }),
                    },
                  ],
                ],
          ),
        ),
        ...accounts,
      },
      keys: {
        ...Object.fromEntries(platforms.map((platform) => [platform, keyOf(platform, platform)])),
        ...Object.fromEntries(
          Object.entries(moreKeys ?? {}).map(([id, more]) => [id, { ...keyOf(id, 'completions'), ...more }]),
        ),
      },
    },
    null,
    2,
  );
}

function keyOf(id: string, group: string) {
  return { group, secret: { environment: keyVariable(id) } };
}

const simulatedPaths = Object.fromEntries(
  Object.values(protocols).map(({ id, usualPath }) => [id, usualPath]),
);

function providerOf(channel: TestChannel) {
  const { origin, dialect, protocols, name = 'Test provider' } = channel;
  return {
    name,
    baseUrl: `${origin}/v1`,
    protocols: protocols ?? simulatedPaths,
    credential: { scheme: secretsOf(channel).length === 0 ? 'none' : 'bearer' },
    ...(dialect === undefined ? {} : { dialect }),
  };
}

function channelOf(channel: TestChannel, place: number) {
  const { models, priority, cost = '1', alias, drain, maxConcurrency, contextWindow, hangUp } = channel;
  const [first, ...others] = secretsOf(channel).map(([environment]) => ({ environment }));
  const classes = typeof cost === 'string' ? { input: cost, output: cost } : cost;
  const priced = Object.entries(models).map(
    ([model, upstream]) =>
      [
        model,
        { upstream, cost: classes, ...(contextWindow === undefined ? {} : { contextWindow }) },
      ] as const,
  );
  return {
    provider: `p-${channel.id}`,
    allowPrivate: true,
    priority: priority ?? place,
    models: Object.fromEntries(priced),
    ...(first === undefined
      ? {}
      : others.length === 0
        ? { credential: first }
        : { credentials: [first, ...others] }),
    ...(drain === undefined ? {} : { drain }),
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(hangUp === undefined ? {} : { hangUp }),
    ...(alias === undefined ? {} : { alias }),
  };
}
