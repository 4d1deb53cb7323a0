import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { loadSettings } from '../config/load-settings.ts';
import { describeProblem } from '../config/yaml-source.ts';
import { environmentOf, type Settings } from '../config.ts';
import type { ConfigurationStore } from '../ports/configuration-store.ts';
import type { Store } from '../ports/store.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import type { Logger } from '../telemetry/logger.ts';
import { applyFile } from './apply-file.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { type ConfigurationService, openConfigurationService } from './configuration-service.ts';
import { addCredential, rotateCredential } from './credentials.ts';
import { unnamedAccount } from './declare/declare-groups.ts';
import { generateKey } from './keys.ts';
import { createKey, rotateKey } from './make-key.ts';
import { settingsPeppers } from './owner-files.ts';
import { commandLine } from './people/actor.ts';
import { refreshModels } from './refresh-models.ts';

let directory = '';
let store: Store;
let nowMs = Date.parse('2026-11-21T00:00:00Z');
let lines: string[] = [];
let alerts: string[] = [];
let over: string[] = [];
const clock = { now: () => nowMs, monotonic: () => nowMs };
const note = (message: string): void => void lines.push(message);
const logger: Logger = { debug: note, info: note, warn: note, error: note };

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-service-'));
  lines = [];
  alerts = [];
  over = [];
  store = await openSqliteStore({
    openLane: (...lane) => new SameThreadLane(...lane),
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock,
    onAlarm: ({ detail }) => note(detail),
  });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function settingsOf(flags: Readonly<Record<string, string>>) {
  const settings = loadSettings(
    { 'data-dir': join(directory, 'data'), ...flags },
    environmentOf({}),
    directory,
  );
  if (!settings.ok) throw new Error(settings.error.map(describeProblem).join('\n'));
  return settings.value.settings;
}

function start(
  variables: Readonly<Record<string, string>> = {},
  flags: Readonly<Record<string, string>> = {},
  configuration: ConfigurationStore = store.configuration,
) {
  return openConfigurationService({
    ...optionsOf(settingsOf(flags), variables),
    store: configuration,
  });
}

function optionsOf(settings: Settings, variables: Readonly<Record<string, string>>) {
  return {
    settings,
    environment: environmentOf(variables),
    store: store.configuration,
    clock,
    logger,
    alerts: { raise: (kind: string) => void alerts.push(kind), over: (kind: string) => void over.push(kind) },
    onCatalogue: () => undefined,
    variable: (name: string) => Promise.resolve(name === 'simulator' ? 'http://127.0.0.1:9' : null),
  };
}

async function started(...parameters: Parameters<typeof start>) {
  const service = await start(...parameters);
  if (!service.ok) throw new Error(service.error.map(describeProblem).join('\n'));
  return service.value;
}

describe('a price that is planned', () => {
  const file = `
channels: { c: { provider: openai, models: [gpt-5-mini] } }
prices:
  gpt-5-mini:
    - { input: 1, output: 4 }
    - { from: 2026-11-22, input: 2, output: 8 }
`;

  test('comes into force at its moment without a change of the file, and a clock that is set back finds the one before', async () => {
    writeFileSync(join(directory, 'c.yaml'), file);
    const { catalogue, poll } = await started({ OPENAI_API_KEY: 'a' }, { config: join(directory, 'c.yaml') });
    const versionAt = async (time: string) => {
      nowMs = Date.parse(time);
      await poll();
      const { price } = catalogue.current.models.get('gpt-5-mini') ?? {};
      return [price?.id, Number(price?.tiers[0]?.classes.output)];
    };
    const [first, second] = [
      ['model:gpt-5-mini@1', 4_000_000],
      ['model:gpt-5-mini@2', 8_000_000],
    ];
    expect(await versionAt('2026-11-21T23:59:59.999Z')).toEqual(first);
    expect(await versionAt('2026-11-22T00:00:00Z')).toEqual(second);
    expect(await versionAt('2026-11-21T12:00:00Z')).toEqual(first);
    expect(await versionAt('2026-11-23T00:00:00Z')).toEqual(second);
    // The file that plans it says nothing new once its time has come.
    await started({ OPENAI_API_KEY: 'a' }, { config: join(directory, 'c.yaml') });
    expect(
      (await store.configuration.load()).prices.filter(({ subject }) => subject === 'model:gpt-5-mini'),
    ).toHaveLength(2);
    nowMs = Date.parse('2026-11-21T00:00:00Z');
  });
});

describe('a start without configuration', () => {
  test('makes a demo of simulated channels, with a key per platform that authenticates', async () => {
    const { catalogue, hashKey, selfConfiguration } = await started();
    if (selfConfiguration.kind !== 'demo') throw new Error('a demo was expected');
    expect(lines).toEqual([]);
    expect(
      [...catalogue.current.channels.values()].every(({ simulated, enabled }) => simulated && enabled),
    ).toBe(true);
    for (const model of catalogue.current.models.values()) expect(model.displayName).toContain('simulated');
    for (const platform of ['completions', 'messages', 'native'] as const) {
      const record = catalogue.current.keys.get(hashKey(selfConfiguration.keys[platform]) ?? '');
      expect(record).toMatchObject({ status: 'active', caller: { group: { platform } } });
    }
  });

  test('keeps the keys of a demo readable by their owner, and the printed calls working from start to start', async () => {
    const first = await started();
    const second = await started();
    expect(first.selfConfiguration).toMatchObject({ isNew: true });
    expect(second.selfConfiguration).toEqual({ ...first.selfConfiguration, isNew: false });
    expect(second.catalogue.current.revision).toBe(first.catalogue.current.revision);
    expect(statSync(join(directory, 'data', 'demo-keys.json')).mode & 0o777).toBe(0o600);
  });

  test('makes real channels when credentials are there, in the place of the demo, and stores no key readable', async () => {
    const demo = await started();
    const real = await started({ OPENAI_API_KEY: 'canary', DEEPSEEK_API_KEY: 'canary' });
    expect([...real.catalogue.current.channels.keys()]).toEqual(['deepseek', 'openai']);
    expect(real.catalogue.current.channels.get('openai')?.credentials).toEqual([
      { id: 'OPENAI_API_KEY', secret: 'canary' },
    ]);
    expect(real.catalogue.current.models.get('gpt-5-mini')?.price).not.toBeNull();
    if (real.selfConfiguration.kind !== 'environment' || demo.selfConfiguration.kind !== 'demo')
      throw new Error('unexpected');
    expect(real.selfConfiguration.variables).toEqual(['DEEPSEEK_API_KEY', 'OPENAI_API_KEY']);
    const plain = real.selfConfiguration.keys?.completions ?? '';
    expect(real.catalogue.current.keys.get(real.hashKey(plain) ?? '')?.status).toBe('active');
    expect(
      real.catalogue.current.keys.get(real.hashKey(demo.selfConfiguration.keys.completions) ?? '')?.status,
    ).not.toBe('active');
    expect(readFileSync(join(directory, 'data', 'demo-keys.json'), 'utf8')).not.toContain(plain);
    const text = JSON.stringify(await store.configuration.load(), (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    expect(text).not.toMatch(new RegExp(`canary|${plain}`));
  });

  test('sets up the native endpoint of each vendor, with the header that its credential belongs in', async () => {
    const { catalogue } = await started({ ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g' });
    const set = [...catalogue.current.channels].map(([id, { provider, baseUrl }]) => {
      return [id, baseUrl, provider.protocols, provider.credential];
    });
    expect(set).toEqual([
      [
        'anthropic',
        'https://api.anthropic.com',
        { messages: '/v1/messages' },
        { scheme: 'header', header: 'x-api-key' },
      ],
      [
        'google',
        'https://generativelanguage.googleapis.com',
        { 'generate-content': '/v1beta/models/{model}:{action}' },
        { scheme: 'header', header: 'x-goog-api-key' },
      ],
    ]);
    expect(catalogue.current.models.get('claude-sonnet-4-5')?.price).not.toBeNull();
    expect(catalogue.current.models.get('gemini-2.5-flash')?.price).not.toBeNull();
  });

  test('goes on with the keys of real channels at the next start', async () => {
    const first = await started({ OPENAI_API_KEY: 'x' });
    const second = await started({ OPENAI_API_KEY: 'x' });
    if (first.selfConfiguration.kind !== 'environment') throw new Error('unexpected');
    expect(second.selfConfiguration).toMatchObject({ kind: 'environment', keys: null });
    expect(
      second.catalogue.current.keys.get(second.hashKey(first.selfConfiguration.keys?.native ?? '') ?? '')
        ?.status,
    ).toBe('active');
  });

  test('without the credential of before, keeps real channels and every key, and never turns into a demo', async () => {
    const real = await started({ OPENAI_API_KEY: 'x' });
    if (real.selfConfiguration.kind !== 'environment') throw new Error('unexpected');
    const before = await store.configuration.load();
    const { catalogue, hashKey, selfConfiguration } = await started();
    expect(selfConfiguration).toEqual({ kind: 'none' });
    expect(await store.configuration.load()).toEqual(before);
    const key = real.selfConfiguration.keys?.completions ?? '';
    expect(catalogue.current.keys.get(hashKey(key) ?? '')?.status).toBe('active');
    expect(catalogue.current.channels.get('openai')).toMatchObject({ enabled: false, simulated: false });
    expect(lines.join('\n')).toContain('the variable OPENAI_API_KEY is not set');
  });

  test('never makes a demo of a store with the keys of others, even when it has nothing else', async () => {
    const configured = await started({ OPENAI_API_KEY: 'x' });
    expect(configured.selfConfiguration.kind).toBe('environment');
    const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };
    await store.configuration.apply('environment', nothing, nowMs);
    const { catalogue, selfConfiguration } = await started();
    expect(selfConfiguration).toEqual({ kind: 'none' });
    expect(catalogue.current.channels.size).toBe(0);
  });

  test('gives real channels groups and an account that are not named after the demo', async () => {
    await started({ OPENAI_API_KEY: 'x' });
    const { accounts, groups, keys } = await store.configuration.load();
    expect(accounts).toEqual([{ ...unnamedAccount, source: 'environment' }]);
    expect(groups.map(({ id }) => id)).toEqual(['completions', 'messages', 'native']);
    expect(JSON.stringify([groups, keys].flat(), ['id', 'name', 'accountId', 'groupId'])).not.toMatch(
      /demo/i,
    );
  });

  test('makes nothing when told not to', async () => {
    const { catalogue, selfConfiguration } = await started({}, { demo: 'false' });
    expect(selfConfiguration).toEqual({ kind: 'none' });
    expect(catalogue.current.channels.size).toBe(0);
  });
});

const file = (price: string): string =>
  [
    'channels: { main: { provider: openai, models: [gpt-5-mini] } }',
    `prices: { gpt-5-mini: { input: ${price}, output: 2 } }`,
    'groups: { team: { platform: completions } }',
    'keys: { ci: { group: team, secret: { environment: CI_KEY } } }',
  ].join('\n');

describe('a configuration file', () => {
  const variables = { OPENAI_API_KEY: 'x', CI_KEY: generateKey() };
  const path = (): string => join(directory, 'headgate.yaml');
  const inputPrice = (service: Awaited<ReturnType<typeof started>>) =>
    service.catalogue.current.models.get('gpt-5-mini')?.price?.tiers[0]?.classes.input;

  test('is found in the working directory and takes over from the demo', async () => {
    await started();
    writeFileSync(path(), file('1'));
    const service = await started(variables);
    expect(service.selfConfiguration).toEqual({ kind: 'none' });
    expect([...service.catalogue.current.channels.keys()]).toEqual(['main']);
    expect(service.catalogue.current.keys.get(service.hashKey(variables.CI_KEY) ?? '')?.caller.keyId).toBe(
      'ci',
    );
  });

  test('is applied when it changes, as a new version of the price', async () => {
    writeFileSync(path(), file('1'));
    const service = await started(variables);
    const before = service.catalogue.current;
    nowMs += 1000;
    writeFileSync(path(), file('0.75'));
    await service.poll();
    await service.poll();
    expect(inputPrice(service)).toBe(750_000n);
    expect(before.models.get('gpt-5-mini')?.price?.tiers[0]?.classes.input).toBe(1_000_000n);
    expect(service.catalogue.current.revision).toBeGreaterThan(before.revision);
  });

  test('a model without a price is told of once, when it is loaded, and over when it has one', async () => {
    const unpriced = file('1').replace('gpt-5-mini]', 'gpt-5-mini, own-model]');
    writeFileSync(path(), unpriced);
    const service = await started(variables);
    expect(alerts).toEqual(['unpriced-model']);
    nowMs += 1000;
    writeFileSync(path(), unpriced.replace('prices: {', 'prices: { own-model: { input: 1, output: 1 },'));
    await service.poll();
    await service.poll();
    expect(alerts).toEqual(['unpriced-model']);
    expect(over.filter((kind) => kind === 'unpriced-model')).toHaveLength(1);
  });

  test('of many models without a price the first hundred are told of', async () => {
    const models = Array.from({ length: 150 }, (_, n) => `own-${n}`).join(', ');
    writeFileSync(path(), file('1').replace('gpt-5-mini]', `gpt-5-mini, ${models}]`));
    await started(variables);
    expect(alerts).toHaveLength(100);
  });

  test('that could not be stored at once is stored as soon as the store can be written again', async () => {
    writeFileSync(path(), file('1'));
    let isFailing = false;
    const failing: ConfigurationStore = {
      ...store.configuration,
      apply: (...inputs) =>
        isFailing ? Promise.reject(new Error('database is locked')) : store.configuration.apply(...inputs),
    };
    const service = await started(variables, {}, failing);
    isFailing = true;
    writeFileSync(path(), file('0.75'));
    for (let look = 0; look < 5; look++) await service.poll();
    expect(lines.filter((line) => line.includes('what was in force stays'))).toHaveLength(1);
    expect(inputPrice(service)).toBe(1_000_000n);
    isFailing = false;
    await service.poll();
    expect(inputPrice(service)).toBe(750_000n);
  });

  test('is refused whole when it is wrong; each mistake is logged with its place and what was in force stays', async () => {
    writeFileSync(path(), file('1'));
    const service = await started(variables);
    const before = service.catalogue.current;
    writeFileSync(path(), `${file('0.5')}\nmodles: {}\n`);
    await service.poll();
    await service.poll();
    expect(service.catalogue.current).toBe(before);
    expect(lines.join('\n')).toContain(
      `configuration refused: ${path()}:5:1: modles: there is no such member`,
    );
    writeFileSync(path(), file('0.5'));
    await service.poll();
    await service.poll();
    expect(inputPrice(service)).toBe(500_000n);
  });

  test('that asks for other settings says that they wait for a restart', async () => {
    writeFileSync(path(), file('1'));
    const service = await started(variables);
    writeFileSync(path(), `${file('1')}\nsettings: { limits: { attempts: 2 } }\n`);
    await service.poll();
    await service.poll();
    expect(lines.join('\n')).toContain('take effect at the next start');
  });

  test('that is wrong at the start keeps the gateway from starting', async () => {
    writeFileSync(path(), 'channels: { main: { provider: opnai, models: [m] } }');
    const service = await start();
    expect(service.ok ? [] : service.error.map(({ message }) => message)).toEqual([
      expect.stringContaining('there is no provider "opnai"') as string,
    ]);
  });
});

describe('a configuration file that would take most away', () => {
  const variables = {
    OPENAI_API_KEY: 'x',
    ...Object.fromEntries(keyNames().map((name) => [name, generateKey()])),
  };
  const path = (): string => join(directory, 'headgate.yaml');
  const houseFile = (keys: readonly string[], channels = ['one', 'two', 'three', 'four']): string =>
    [
      'channels:',
      ...channels.map((id) => `  ${id}: { provider: openai, models: [gpt-5-mini] }`),
      'groups: { team: { platform: completions } }',
      ...(keys.length === 0 ? [] : ['keys:']),
      ...keys.map((name) => `  ${name.toLowerCase()}: { group: team, secret: { environment: ${name} } }`),
      '',
    ].join('\n');
  const whole = houseFile(keyNames());
  const shorter: readonly (readonly [name: string, text: string, reason: string])[] = [
    ['is empty', '', 'it declares no channel and no key, and would remove 4 of 4 channels and 4 of 5 keys'],
    ['lost most keys', houseFile(keyNames().slice(0, 1)), 'it would remove 3 of 5 keys'],
    ['lost most channels', houseFile(keyNames(), ['one']), 'it would remove 3 of 4 channels'],
    ['is of another house', houseFile(keyNames(), ['a', 'b', 'c']), 'it would remove 4 of 4 channels'],
  ];
  const addOperatorKey = async () => {
    const peppers = settingsPeppers(settingsOf({}));
    if (!peppers.ok) throw new Error('no pepper');
    const tools = {
      store,
      peppers: peppers.value,
      nowMs,
      actor: commandLine,
      scope: 'all',
      unbounded: 'all',
    } as const;
    await createKey(tools, { name: 'by hand', group: 'team' });
  };
  const change = async (service: Awaited<ReturnType<typeof started>>, text: string) => {
    writeFileSync(path(), text);
    for (let look = 0; look < 4; look++) await service.poll();
  };

  test.each(shorter)('changes nothing when it %s, and says so once', async (_, text, reason) => {
    writeFileSync(path(), whole);
    const service = await started(variables);
    await addOperatorKey();
    await service.poll();
    const before = service.catalogue.current;
    lines = [];
    await change(service, text);
    expect(service.catalogue.current).toBe(before);
    expect(lines).toHaveLength(1);
    expect(alerts).toEqual(['configuration-withheld']);
    expect(lines[0]).toContain(reason);
  });

  test('that lost half of its keys is applied, and so is one whose keys have other names', async () => {
    writeFileSync(path(), whole);
    const service = await started(variables);
    await change(service, houseFile(keyNames().slice(0, 2)));
    expect(activeKeys(service)).toEqual(['key_a', 'key_b']);
    await change(service, houseFile(keyNames().slice(0, 2)).replaceAll(/ key_(\w+):/g, ' renamed-$1:'));
    expect(alerts).toEqual([]);
    expect(activeKeys(service)).toEqual(['renamed-a', 'renamed-b']);
  });

  test('that breaks off in a line is withheld even where little is missing, and one that is shorter is not', async () => {
    const block = ['one', 'two', 'three', 'four'].map(
      (id) => `  ${id}:\n    provider: openai\n    models: [gpt-5-mini]\n    alias: Number ${id}\n`,
    );
    const text = `groups: {}\nchannels:\n${block.join('')}`;
    writeFileSync(path(), text);
    const service = await started(variables);
    await change(service, text.slice(0, text.indexOf('mber three')));
    expect(enabledChannels(service)).toHaveLength(4);
    expect(lines.join()).toContain('it ends in the middle of a line, and would remove 1 of 4 channels');
    await change(service, text.slice(0, text.indexOf('\n  four')));
    expect(enabledChannels(service)).toEqual(['one', 'three', 'two']);
  });

  test('is not read again at a start that has read it for its settings', async () => {
    writeFileSync(path(), whole);
    const loaded = loadSettings({ 'data-dir': join(directory, 'data') }, environmentOf({}), directory);
    if (!loaded.ok) throw new Error('settings');
    rmSync(path());
    const { settings, file } = loaded.value;
    const service = await openConfigurationService(optionsOf(settings, variables), file);
    if (!service.ok) throw new Error(service.error.map(describeProblem).join('\n'));
    expect(enabledChannels(service.value)).toHaveLength(4);
  });

  test('does not keep a gateway from starting with what is in force, and is applied once it is forced', async () => {
    writeFileSync(path(), whole);
    await started(variables);
    const rest = houseFile(keyNames().slice(0, 1), ['one']);
    writeFileSync(path(), rest);
    const service = await started(variables);
    expect(enabledChannels(service)).toHaveLength(4);
    expect(alerts).toEqual(['configuration-withheld']);
    const peppers = settingsPeppers(settingsOf({}));
    if (!peppers.ok) throw new Error('no pepper');
    const tools = {
      store: store.configuration,
      catalogueFiles: openCatalogueFiles(),
      environment: environmentOf(variables),
      peppers: peppers.value,
      clock,
    };
    const read = readConfigurationFile(rest, path());
    if (!read.ok) throw new Error('a file that can be read');
    const forced = await applyFile(tools, read.value, { isForced: true, previousText: null });
    expect(forced).toMatchObject({ ok: true, value: { kind: 'applied' } });
    for (let look = 0; look < 3; look++) await service.poll();
    expect(enabledChannels(service)).toEqual(['one']);
    expect(activeKeys(service)).toEqual(['key_a']);
    expect(alerts).toEqual(['configuration-withheld']);
  });
});

function enabledChannels({ catalogue }: ConfigurationService): readonly string[] {
  return [...catalogue.current.channels.values()].flatMap(({ id, enabled }) => (enabled ? [id] : [])).sort();
}

function activeKeys({ catalogue }: ConfigurationService): readonly string[] {
  return [...catalogue.current.keys.values()]
    .flatMap(({ status, caller }) => (status === 'active' ? [caller.keyId] : []))
    .sort();
}

function keyNames(): readonly string[] {
  return ['KEY_A', 'KEY_B', 'KEY_C', 'KEY_D'];
}

describe('changes made by other processes', () => {
  test('a key made, rotated and revoked beside the running service takes effect at the next look', async () => {
    const service = await started();
    const peppers = settingsPeppers(settingsOf({}));
    if (!peppers.ok) throw new Error('no pepper');
    const tools = {
      store,
      peppers: peppers.value,
      nowMs,
      actor: commandLine,
      scope: 'all',
      unbounded: 'all',
    } as const;
    const created = await createKey(tools, { name: 'n', group: 'demo-completions', strict: true });
    if (!created.ok) throw new Error(JSON.stringify(created.error));
    const recordOf = (key: string) => service.catalogue.current.keys.get(service.hashKey(key) ?? '');
    expect(recordOf(created.value.key)).toBeUndefined();
    await service.poll();
    expect(recordOf(created.value.key)?.status).toBe('active');
    const rotated = await rotateKey(tools, created.value.record, 60_000);
    if (!rotated.ok) throw new Error(rotated.error);
    await service.poll();
    expect(recordOf(created.value.key)?.caller.expiresAtMs).toBe(nowMs + 60_000);
    expect(recordOf(rotated.value.key)).toMatchObject({
      status: 'active',
      caller: { keyName: 'n', strict: true, group: { id: 'demo-completions' } },
    });
    await store.configuration.setKeyStatus(rotated.value.record.id, 'revoked');
    await service.poll();
    expect(recordOf(rotated.value.key)?.status).toBe('revoked');
  });

  test('looks that meet do the work once, and a failing store leaves the snapshot in force', async () => {
    const service = await started();
    const before = service.catalogue.current;
    await Promise.all([service.poll(), service.poll()]);
    expect(service.catalogue.current).toBe(before);
    await store.close();
    await service.poll();
    expect(service.catalogue.current).toBe(before);
    expect(lines.join('\n')).toContain('what was in force stays');
    store = await openSqliteStore({
      openLane: (...lane) => new SameThreadLane(...lane),
      file: join(directory, 'headgate.sqlite'),
      durability: 'strict',
      clock,
      onAlarm: () => undefined,
    });
  });
});

describe('credentials', () => {
  const secretFile = () => join(directory, 'secret');
  const fileOf = (credential: string) =>
    `channels: { one: { provider: openai, models: [gpt-5-mini], ${credential} } }\n`;
  const secretsOf = ({ catalogue }: ConfigurationService) =>
    catalogue.current.channels.get('one')?.credentials.map(({ secret }) => secret);
  /** Looks as often as it takes for a file to have stopped changing. */
  const settle = async (service: ConfigurationService, elapsedMs = 250) => {
    for (let look = 0; look < 3; look++) {
      nowMs += elapsedMs;
      await service.poll();
    }
  };
  const configure = (credential: string) =>
    writeFileSync(join(directory, 'headgate.yaml'), fileOf(credential));

  test('a missing one disables its channel with one alert and not the start; it returns by itself', async () => {
    configure(`credential: { file: ${secretFile()} }`);
    const service = await started();
    expect(service.catalogue.current.channels.get('one')).toMatchObject({ enabled: false, credentials: [] });
    expect(alerts).toEqual(['missing-credential']);
    expect(lines).toContain(`one: the file ${secretFile()} is not there`);
    await settle(service);
    expect(alerts).toHaveLength(1);
    expect(over).not.toContain('missing-credential');
    writeFileSync(secretFile(), 'sk-appeared\n', { mode: 0o600 });
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-appeared']);
    expect(over).toContain('missing-credential');
    expect(service.catalogue.current.channels.get('one')?.enabled).toBe(true);
    expect(lines.at(-1)).toBe('no credential of the channel is missing any more');
    await service.close();
  });

  test('a file that is gone keeps its secret for some seconds, and no longer', async () => {
    configure(`credential: { file: ${secretFile()} }`);
    writeFileSync(secretFile(), 'sk-here', { mode: 0o644 });
    const service = await started();
    expect(lines).toContain(`others can read ${secretFile()}; chmod 600 it, or 440 where it is mounted`);
    rmSync(secretFile());
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-here']);
    await settle(service, 3000);
    expect(secretsOf(service)).toEqual([]);
    expect(alerts).toEqual(['missing-credential']);
    await service.close();
  });

  test('one moves from a variable that is not set to a file, and from there into the store', async () => {
    configure('credential: { environment: NOPE }');
    const service = await started();
    expect(lines).toContain('one: the variable NOPE is not set');
    writeFileSync(secretFile(), 'sk-in-file', { mode: 0o600 });
    configure(`credential: { file: ${secretFile()} }`);
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-in-file']);
    configure('priority: 1');
    const tools = { store, dataDir: join(directory, 'data'), actor: commandLine, nowMs };
    const added = await addCredential(tools, 'one', null, 'sk-in-store');
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-in-store']);
    expect(readFileSync(join(directory, 'headgate.sqlite')).includes('sk-in-store')).toBe(false);
    if (!added.ok) throw new Error(added.error);
    await rotateCredential(tools, added.value.slice(0, 8), 'sk-in-store-2');
    await service.poll();
    expect(secretsOf(service)).toEqual(['sk-in-store-2']);
    await store.configuration.removeCredential(added.value);
    await service.poll();
    expect(secretsOf(service)).toEqual([]);
    expect(lines.join('\n')).not.toContain('sk-in-');
    await service.close();
  });

  test('without the key they were sealed under, stored ones are missing until its file is back, and no other is made', async () => {
    configure('priority: 1');
    const first = await started();
    await first.close();
    const dataDir = join(directory, 'data');
    const tools = { store, dataDir, actor: commandLine, nowMs };
    await addCredential(tools, 'one', 'mine', 'sk-sealed');
    const keyFile = join(dataDir, 'credentials-key');
    const key = readFileSync(keyFile, 'utf8');
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    rmSync(keyFile);
    const service = await started();
    expect(service.catalogue.current.channels.get('one')?.enabled).toBe(false);
    expect(lines.join('\n')).toContain(`${keyFile} is not there; put that file back`);
    const refused = await addCredential(tools, 'one', null, 'sk-other');
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining('is gone') as string });
    writeFileSync(keyFile, `${'A'.repeat(43)}\n`, { mode: 0o600 });
    await settle(service);
    expect(lines.join('\n')).toContain('which is not in credentials-key');
    writeFileSync(keyFile, `${'A'.repeat(43)}\n${key}`, { mode: 0o600 });
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-sealed']);
    await service.close();
  });

  test('a command is run at the start and again when its secret is refused, at most every ten seconds', async () => {
    const script = `const fs = require('fs'); const path = ${JSON.stringify(secretFile())};
      const runs = fs.existsSync(path) ? fs.readFileSync(path, 'utf8').length + 1 : 1;
      fs.writeFileSync(path, 'x'.repeat(runs)); console.error('sk-on-stderr'); console.log('sk-run-' + runs)`;
    configure(`credential: { command: ${JSON.stringify([process.execPath, '-e', script])} }`);
    const service = await started();
    expect(secretsOf(service)).toEqual(['sk-run-1']);
    const [id = ''] = service.catalogue.current.channels.get('one')?.credentials.map((each) => each.id) ?? [];
    expect(id).toMatch(/^command [^ ]+$/);
    service.credentialRefused(id);
    service.credentialRefused(id);
    await settle(service);
    expect(secretsOf(service)).toEqual(['sk-run-1']);
    nowMs += 10_000;
    await expect
      .poll(() => service.poll().then(() => secretsOf(service)), { timeout: 5000 })
      .toEqual(['sk-run-2']);
    nowMs += 60_000;
    await settle(service);
    expect(readFileSync(secretFile(), 'utf8')).toBe('xx');
    expect(lines.join('\n')).not.toContain('sk-');
    await service.close();
  });
});

test('newer facts about models are in force without a restart, and the rest stays', async () => {
  const service = await started({ OPENAI_API_KEY: 'canary' });
  const before = service.catalogue.current;
  await service.poll();
  expect(service.catalogue.current).toBe(before);
  const facts = { name: 'Five', reasoning: { mode: 'none' }, contextWindow: 77_777 };
  const file = {
    asOf: '2030-01-01',
    vendor: true,
    providers: ['openai'],
    sources: {},
    models: { 'gpt-5-mini': facts },
  };
  const content = Buffer.from(JSON.stringify(file));
  expect(
    refreshModels(join(directory, 'data'), 'openai.json', content, {
      isTrial: false,
      nowMs: Date.parse('2031-01-01'),
    }).ok,
  ).toBe(true);
  await service.poll();
  const { models, revision } = service.catalogue.current;
  expect(models.get('gpt-5-mini')?.targets[0]).toMatchObject({
    contextWindow: 77_777,
    facts: { name: 'Five' },
  });
  expect(models.size).toBe(before.models.size);
  expect(revision).toBe(before.revision);
  await service.close();
});
