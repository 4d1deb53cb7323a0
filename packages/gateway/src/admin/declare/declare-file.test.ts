import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeSource } from '../../catalogue/secret-source.ts';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { describeProblem } from '../../config/yaml-source.ts';
import { environmentOf } from '../../config.ts';
import type { Declaration } from '../../ports/configuration-store.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { generateKey } from '../keys.ts';
import { declareFile } from './declare-file.ts';

const catalogue = openCatalogueFiles();
const nowMs = Date.parse('2026-11-21T00:00:00Z');

function declare(yaml: string, variables: Readonly<Record<string, string>> = {}) {
  const file = readConfigurationFile(yaml, 'h.yaml');
  if (!file.ok) throw new Error(file.error.map(describeProblem).join('\n'));
  const tools = {
    catalogue,
    environment: environmentOf(variables),
    hashKey: (key: string) => `hash of ${key}`,
    olderHashes: () => [],
    fingerprints: ['00000000000000aa'],
    nowMs,
  };
  return declareFile(file.value, tools);
}

function declaration(yaml: string, variables: Readonly<Record<string, string>> = {}): Declaration {
  const declared = declare(yaml, variables);
  if (!declared.ok) throw new Error(declared.error.map(describeProblem).join('\n'));
  return declared.value;
}

function problemsOf(yaml: string, variables: Readonly<Record<string, string>> = {}): readonly string[] {
  const declared = declare(yaml, variables);
  return declared.ok ? [] : declared.error.map(describeProblem);
}

const withKey = { OPENAI_API_KEY: 'secret' };
const channel = 'channels: { main: { provider: openai, models: [gpt-5-mini] } }\n';

describe('what a file declares', () => {
  test('how channels and groups are routed to', () => {
    const { channels, groups } = declaration(
      `channels:
  a:
    provider: openai
    credentials: [{ environment: OPENAI_API_KEY }, { environment: LATER }]
    drain: true
    maxConcurrency: 8
    models: { m: { contextWindow: 32000, lacks: [tools, image-input] } }
groups:
  plain: { platform: native }
  quick: { platform: native, routing: { preset: latency, channels: [a], hedging: true } }
`,
      withKey,
    );
    expect(channels).toMatchObject([
      {
        credentials: [
          { kind: 'environment', name: 'OPENAI_API_KEY' },
          { kind: 'environment', name: 'LATER' },
        ],
        drain: true,
        maxConcurrency: 8,
        models: [{ modelId: 'm', contextWindow: 32_000, lacks: ['tools', 'image-input'] }],
      },
    ]);
    expect(groups.map(({ routing }) => routing)).toEqual([
      { preset: 'balanced', channels: null, hedging: false, rescue: 'none' },
      { preset: 'latency', channels: ['a'], hedging: true, rescue: 'none' },
    ]);
  });

  test('where the credentials of a channel are, whichever way', () => {
    const yaml = `channels:
  a: { provider: openai, models: [m], credential: { file: /run/secrets/a } }
  b:
    provider: openai
    models: [m]
    credentials: [{ command: [vault, read, key], refresh: 90m }, { command: [other] }, { environment: B }]
`;
    expect(declaration(yaml).channels.map(({ credentials }) => credentials)).toEqual([
      [{ kind: 'file', path: '/run/secrets/a' }],
      [
        { kind: 'command', words: ['vault', 'read', 'key'], refreshMs: 5_400_000 },
        { kind: 'command', words: ['other'], refreshMs: null },
        { kind: 'environment', name: 'B' },
      ],
    ]);
  });

  test('the way to a channel: headers, a proxy and time-outs', () => {
    const yaml = `channels:
  a:
    provider: openai
    models: [m]
    headers: { x-team: house, x-token: { file: /run/secrets/token } }
    proxy: { url: http://proxy.example:3128, user: house, password: { environment: PROXY_PASSWORD } }
    timeouts: { connect: 2s, stall: 90s, total: 1h }
  b: { provider: openai, models: [m], proxy: none }
`;
    expect(declaration(yaml).channels).toMatchObject([
      {
        headers: [
          { name: 'x-team', value: 'house' },
          { name: 'x-token', value: { kind: 'file', path: '/run/secrets/token' } },
        ],
        proxy: { url: 'http://proxy.example:3128', user: 'house', password: { name: 'PROXY_PASSWORD' } },
        timeouts: { connectMs: 2000, firstContentMs: null, stallMs: 90_000, totalMs: 3_600_000 },
      },
      { headers: [], proxy: 'none', timeouts: { connectMs: null } },
    ]);
  });

  test('the example of docs/configuration.md, whole', () => {
    const page = readFileSync(new URL('../../../../../docs/configuration.md', import.meta.url), 'utf8');
    const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const variables = {
      ...withKey,
      OPENAI_EU_KEY: 'other',
      CI_HEADGATE_KEY: generateKey(),
      PARTNER_ONE_KEY: generateKey(),
    };
    const declared = declaration(example, variables);
    expect(declared.channels.map(({ id, credentials }) => [id, credentials.map(describeSource)])).toEqual([
      ['openai', []],
      ['openai-eu', ['OPENAI_EU_KEY', 'OPENAI_EU_KEY_TWO']],
      ['house', []],
    ]);
    expect(declared.accounts.map(({ id }) => id)).toEqual(['partner-one', 'default']);
    expect(declared.groups.find(({ id }) => id === 'partners')?.multiplierPpm).toBe(1_150_000n);
    expect(declared.keys.map(({ id, accountId }) => [id, accountId])).toEqual([
      ['ci', 'default'],
      ['partner-one', 'partner-one'],
    ]);
    expect(Object.keys(declared.providers)).toEqual(['house-models']);
  });

  test('prices are read from the text as it was written, not from a float', () => {
    const { models } = declaration(
      `${channel}prices: { gpt-5-mini: { input: 0.10, cacheRead: 0.000001, output: '1234567.654321' } }`,
      withKey,
    );
    expect(models[0]?.price?.[0]?.classes).toMatchObject({
      input: 100_000n,
      cacheRead: 1n,
      output: 1_234_567_654_321n,
    });
  });

  test('images are priced by size and quality, in the order they are written', () => {
    const images =
      '[{ size: 1024x1024, quality: high, price: 0.1670 }, { quality: low, price: 0.000000000001 }]';
    const { models } = declaration(
      `${channel}prices: { gpt-5-mini: { perImage: 0.5, images: ${images} } }`,
      withKey,
    );
    expect(models[0]?.price).toMatchObject([
      {
        classes: { perImage: 500_000_000_000n },
        images: [
          { size: '1024x1024', quality: 'high', price: 167_000_000_000n },
          { size: null, quality: 'low', price: 1n },
        ],
      },
    ]);
  });

  test('a model that only a channel names is priced by the seed; what else it is, the catalogue says', () => {
    const { models, channels } = declaration(channel, withKey);
    expect(models).toMatchObject([{ id: 'gpt-5-mini', ownedBy: 'headgate' }]);
    expect(models[0]?.price?.[0]?.classes.output).toBeGreaterThan(0n);
    expect(channels[0]?.models[0]?.cost).toEqual(models[0]?.price);
  });

  test('a model the seed does not know has no price rather than none to pay', () => {
    const { models } = declaration('channels: { main: { provider: openai, models: [brand-new] } }', withKey);
    expect(models[0]?.price).toBeNull();
  });

  test('a change to a provider of the catalogue keeps the rest of its row', () => {
    const yaml = `providers: { openai: { baseUrl: 'https://eu.example/v1', dialect: { usageInStream: false } } }\n${channel}`;
    const document: unknown = JSON.parse(declaration(yaml, withKey).providers['openai'] ?? '');
    expect(document).toMatchObject({
      name: 'OpenAI',
      baseUrl: 'https://eu.example/v1',
      dialect: { usageInStream: false },
    });
  });

  test('an alias of YAML gives its values and its exact numbers', () => {
    const yaml = `channels: { main: { provider: openai, models: [a, b] } }\nprices: { a: &p { input: 0.10, output: 0.20 }, b: *p }`;
    expect(declaration(yaml, withKey).models.map(({ price }) => price?.[0]?.classes.input)).toEqual([
      100_000n,
      100_000n,
    ]);
  });
});

describe('what a file may not refer to', () => {
  test.each([
    [
      'a provider',
      'channels: { a: { provider: opnai, models: [m] } }',
      'h.yaml:1:28: channels.a.provider: there is no provider "opnai"; did you mean "openai"?',
    ],
    [
      'a model in a group',
      `${channel}groups: { g: { platform: native, models: [gpt-5-mimi] } }`,
      'h.yaml:2:43: groups.g.models.0: there is no model "gpt-5-mimi"; did you mean "gpt-5-mini"?',
    ],
    [
      'a model without a channel',
      `${channel}models: { lonely: {} }`,
      'h.yaml:2:19: models.lonely: no channel serves this model; add it to the models of one',
    ],
    [
      'a base URL with gaps',
      'channels: { a: { provider: azure-openai, credential: { environment: OPENAI_API_KEY }, models: [m] } }',
      'h.yaml:1:16: channels.a: needs a baseUrl: that of Azure OpenAI / Foundry is https://{resource}.openai.azure.com/openai/v1, with {resource} to fill in',
    ],
    [
      'this machine without saying so',
      'channels: { a: { provider: ollama, models: [m] } }',
      'h.yaml:1:16: channels.a: leads to this machine (http://localhost:11434/v1); add allowPrivate: true if that is meant',
    ],
    [
      'a price with too many digits',
      `${channel}prices: { gpt-5-mini: { input: 1, output: 0.0000001 } }`,
      'h.yaml:2:43: prices.gpt-5-mini.output: "0.0000001" has more than 6 digits after the point',
    ],
    [
      'a negative price',
      `${channel}prices: { gpt-5-mini: { input: -1 } }`,
      'h.yaml:2:32: prices.gpt-5-mini.input: "-1" is not a plain decimal number such as 2.50',
    ],
    [
      'a price of an image that is none',
      `${channel}prices: { gpt-5-mini: { images: [{ price: -1 }] } }`,
      'h.yaml:2:43: prices.gpt-5-mini.images.0.price: "-1" is not a plain decimal number such as 2.50',
    ],
    [
      'a price without a number',
      `${channel}prices: { gpt-5-mini: {} }`,
      'h.yaml:2:23: prices.gpt-5-mini: gives no price; write at least input and output',
    ],
    [
      'a group routed to a channel that does not exist',
      'channels: { main: { provider: openai, models: [gpt-5-mini] } }\ngroups: { g: { platform: native, routing: { channels: [mian] } } }',
      'h.yaml:2:56: groups.g.routing.channels.0: there is no channel "mian"',
    ],
    [
      'a multiplier that is no number',
      'groups: { g: { platform: native, multiplier: half } }',
      'h.yaml:1:46: groups.g.multiplier: "half" is not a plain decimal number such as 2.50',
    ],
  ])('%s', (_, yaml, problem) => {
    expect(problemsOf(yaml, withKey)).toEqual([problem]);
  });

  test('a credential that is not there is no mistake of the file: its channel waits for it', () => {
    const waiting = { kind: 'environment', name: 'NOPE' };
    expect(declaration(channel).channels[0]?.credentials).toEqual([]);
    const named = declaration(
      'channels: { a: { provider: openai, credential: { environment: NOPE }, models: [m] } }',
    );
    expect(named.channels[0]?.credentials).toEqual([waiting]);
  });

  test.each([
    [
      'beside the one',
      '{ credential: { environment: OPENAI_API_KEY }, credentials: [{ environment: OPENAI_API_KEY }], ',
      'are given beside credential; move that one into the list and remove credential',
    ],
    [
      'one of them twice',
      '{ credentials: [{ environment: OPENAI_API_KEY }, { environment: OPENAI_API_KEY }], ',
      'names OPENAI_API_KEY again; each is listed once',
    ],
  ])('several credentials, %s', (_, head, problem) => {
    const problems = problemsOf(`channels: { a: ${head}provider: openai, models: [m] } }`, withKey);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^h\.yaml:1:\d+: channels\.a\.credentials/);
    expect(problems[0]).toContain(problem);
  });

  test('a key that is missing, mistyped, of no group or the same as another', () => {
    const key = generateKey();
    const yaml =
      'groups: { g: { platform: native } }\nkeys:\n  a: { group: g, secret: { environment: A } }\n  b: { group: gg, secret: { environment: B } }\n';
    expect(problemsOf(yaml, { A: key, B: `${key}x` })).toEqual([
      'h.yaml:4:15: keys.b.group: there is no group "gg"; did you mean "g"?',
      'h.yaml:4:42: keys.b.secret.environment: the variable B does not hold a Headgate key (sk- and 49 letters and digits); `headgate keys generate` prints one',
    ]);
    expect(problemsOf(yaml, { A: key }).at(-1)).toContain('the variable B is not set');
    expect(problemsOf(yaml.replace('gg', 'g'), { A: key, B: key })).toEqual([
      'h.yaml:4:26: keys.b.secret: is the same key as that of "a"',
    ]);
  });

  test('a provider that is not in the catalogue and not described whole', () => {
    expect(problemsOf('providers: { mine: { name: Mine } }').join('\n')).toContain(
      'not in the catalogue, so it must be described whole',
    );
  });

  test('no secret appears in what is declared or complained about', () => {
    const key = generateKey();
    const yaml = `${channel}groups: { g: { platform: native } }\nkeys: { a: { group: g, secret: { environment: A } } }`;
    const text = (value: unknown): string =>
      JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? `${member}` : member));
    const declared = declaration(yaml, { OPENAI_API_KEY: 'canary-credential', A: key });
    expect(text({ ...declared, keys: declared.keys.map(({ hash: _, ...rest }) => rest) })).not.toMatch(
      new RegExp(`canary|${key}`),
    );
    expect(problemsOf(yaml, { OPENAI_API_KEY: 'canary-credential', A: 'canary-key' }).join()).not.toContain(
      'canary',
    );
  });
});
