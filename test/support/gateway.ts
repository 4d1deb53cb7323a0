import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '../../packages/gateway/src/admin/key-secret.ts';
import { readConfigurationFile } from '../../packages/gateway/src/config/configuration-file.ts';
import { environmentOf, readSettings } from '../../packages/gateway/src/config.ts';
import { type RunningGateway, startGateway } from '../../packages/gateway/src/main.ts';

/** A channel of a test: which upstream it leads to and under which names it serves models there. */
export interface TestChannel {
  readonly id: string;
  readonly origin: string;
  /** Public id → name at the upstream. */
  readonly models: Readonly<Record<string, string>>;
  /** USD per million tokens, input and output alike; cheaper channels are tried first. */
  readonly cost?: string;
  readonly dialect?: Readonly<Record<string, unknown>>;
}

export interface TestGatewayOptions {
  readonly channels: readonly TestChannel[];
  /** Flags of `headgate serve`, without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Public model ids → USD per million tokens; every model of the channels costs 1 and 2 if left out. */
  readonly prices?: Readonly<Record<string, { readonly input: string; readonly output: string }>>;
}

export interface TestGateway extends RunningGateway {
  /** Keys by platform. */
  readonly keys: { readonly completions: string; readonly messages: string; readonly native: string };
  readonly dataDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a whole gateway in this process, on free ports and a data directory of its own. */
export async function openTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-test-'));
  const configFile = join(dataDir, 'headgate.yaml');
  const keys = { completions: generateKey(), messages: generateKey(), native: generateKey() };
  const text = configurationText(options);
  writeFileSync(configFile, text);
  const flags = {
    'data-dir': dataDir,
    config: configFile,
    'api-port': '0',
    'console-port': '0',
    'log-level': 'error',
    ...options.flags,
  };
  const environment = environmentOf({
    TEST_KEY_COMPLETIONS: keys.completions,
    TEST_KEY_MESSAGES: keys.messages,
    TEST_KEY_NATIVE: keys.native,
  });
  const file = valueOf(readConfigurationFile(text, configFile));
  const settings = valueOf(readSettings({ flags, environment, file }));
  const gateway = valueOf(await startGateway(settings, environment));
  return {
    ...gateway,
    keys,
    dataDir,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function valueOf<Value>(result: { ok: true; value: Value } | { ok: false; error: unknown }): Value {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.error, null, 2));
}

/** The configuration file of a test, as an operator would write it. JSON is YAML. */
export function configurationText({ channels, prices }: TestGatewayOptions): string {
  const modelIds = [...new Set(channels.flatMap(({ models }) => Object.keys(models)))];
  const platforms = ['completions', 'messages', 'native'];
  return JSON.stringify(
    {
      providers: Object.fromEntries(channels.map((channel) => [`p-${channel.id}`, providerOf(channel)])),
      models: Object.fromEntries(modelIds.map((id) => [id, {}])),
      prices: prices ?? Object.fromEntries(modelIds.map((id) => [id, { input: '1', output: '2' }])),
      channels: Object.fromEntries(channels.map((channel) => [channel.id, channelOf(channel)])),
      groups: Object.fromEntries(platforms.map((platform) => [platform, { platform }])),
      keys: Object.fromEntries(
        platforms.map((platform) => [
          platform,
          { group: platform, secret: { environment: `TEST_KEY_${platform.toUpperCase()}` } },
        ]),
      ),
    },
    null,
    2,
  );
}

function providerOf({ origin, dialect }: TestChannel) {
  return {
    name: 'Test provider',
    baseUrl: `${origin}/v1`,
    protocols: { 'chat-completions': '/chat/completions' },
    credential: { scheme: 'none' },
    ...(dialect === undefined ? {} : { dialect }),
  };
}

function channelOf({ id, models, cost = '1' }: TestChannel) {
  const priced = Object.entries(models).map(([model, upstream]) => [
    model,
    { upstream, cost: { input: cost, output: cost } },
  ]);
  return { provider: `p-${id}`, allowPrivate: true, models: Object.fromEntries(priced) };
}
