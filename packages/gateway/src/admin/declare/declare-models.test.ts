import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { describeProblem } from '../../config/yaml-source.ts';
import { environmentOf } from '../../config.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { declareFile } from './declare-file.ts';

const tools = {
  catalogue: openCatalogueFiles(),
  environment: environmentOf({ OPENAI_API_KEY: 'a', GROQ_API_KEY: 'b', TOGETHER_API_KEY: 'c' }),
  hashKey: (key: string) => key,
  olderHashes: () => [],
  fingerprints: ['00000000000000aa'],
  nowMs: Date.parse('2026-11-21T00:00:00Z'),
};

function declared(yaml: string) {
  const file = readConfigurationFile(yaml, 'h.yaml');
  if (!file.ok) throw new Error(file.error.map(describeProblem).join('\n'));
  return declareFile(file.value, tools);
}

function modelsOf(yaml: string) {
  const read = declared(yaml);
  if (!read.ok) throw new Error(read.error.map(describeProblem).join('\n'));
  return read.value.models;
}

function problemsOf(yaml: string): string {
  const read = declared(yaml);
  return read.ok ? '' : read.error.map(describeProblem).join('\n');
}

const classesOf = (yaml: string) => modelsOf(yaml)[0]?.price?.map(({ classes }) => classes);
const on = (model: string) => `channels: { main: { provider: openai, models: [${model}] } }\n`;

describe('what callers pay', () => {
  test('is the same whichever channels serve the model, in which order, at which cost', () => {
    // All of them serve all of the models, under names of their own and at costs of their own.
    const channels = [
      'provider: openai, models: { gpt-5: {}, openai/gpt-oss-120b: {}, own: { upstream: gpt-5-mini } }',
      'provider: openai, models: { gpt-5: { cost: { input: 0, output: 0 } }, openai/gpt-oss-120b: {}, own: {} }',
      'provider: groq, models: { gpt-5: { upstream: not-known }, openai/gpt-oss-120b: {}, own: { upstream: llama-3.1-8b-instant } }',
      'provider: together, models: { gpt-5: { cost: { input: 9, output: 99 } }, openai/gpt-oss-120b: { cost: { input: 0, output: 0.01 } }, own: { upstream: gpt-5-nano } }',
    ];
    const priced = (rows: readonly string[]) => {
      const models = modelsOf(`channels:\n${rows.join('\n')}\nprices: { gpt-5: { output: 12 } }`);
      return Object.fromEntries(models.map(({ id, price, priceOrigin }) => [id, { price, priceOrigin }]));
    };
    const row = (text: string, name: string, priority: number) =>
      `  ${name}: { priority: ${priority}, ${text} }`;
    const usual = priced(channels.map((text, at) => row(text, `c${at}`, 0)));
    expect(usual['own']?.price).toBeNull();
    expect(usual['gpt-5']?.price?.[0]?.classes).toMatchObject({ input: 1_250_000n, output: 12_000_000n });
    fc.assert(
      fc.property(
        fc.shuffledSubarray(channels, { minLength: 1 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 }),
        fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 }),
        (chosen, priorities, names) => {
          const rows = chosen.map((text, at) => row(text, names[at] ?? '', priorities[at] ?? 0));
          expect(priced(rows)).toEqual(usual);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('is the list price of the model that a name of their own is priced as', () => {
    const [own] = modelsOf(`${on('house')}models: { house: { pricedAs: gpt-5-mini } }`);
    const [list] = modelsOf(on('gpt-5-mini'));
    expect(own?.price).toEqual(list?.price);
    expect(own).toMatchObject({
      displayName: 'house',
      priceOrigin: { by: 'catalogue', list: 'openai', asOf: expect.stringMatching(/^20/) as string },
    });
    expect(problemsOf(`${on('house')}models: { house: { pricedAs: gpt-5-mimi } }`)).toContain(
      'the catalogue has no list price of "gpt-5-mimi"; did you mean "gpt-5-mini"?',
    );
  });

  test('is never that of a model whose name only begins like it', () => {
    expect(modelsOf(on('gpt-5-nano-next'))[0]?.price).toBeNull();
    expect(modelsOf(on('gpt-5-nano-2025-08-07'))[0]?.price).not.toBeNull();
  });
});

describe('an entry of prices that leaves something out', () => {
  const [listed] = classesOf(on('gpt-5')) ?? [];

  test('takes it from the list price', () => {
    const [price] = classesOf(`${on('gpt-5')}prices: { gpt-5: { output: 12 } }`) ?? [];
    expect(price).toEqual({
      ...listed,
      output: 12_000_000n,
      audioOutput: 12_000_000n,
      imageOutput: 12_000_000n,
    });
    expect(price?.cacheRead).toBe(125_000n);
    const models = modelsOf(`${on('gpt-5')}prices: { gpt-5: { output: 12 } }`);
    expect(models[0]?.priceOrigin).toMatchObject({ by: 'both', list: 'openai' });
  });

  test('takes nothing when it is whole, or prices images by the piece', () => {
    const whole = `${on('gpt-5')}prices: { gpt-5: { input: 2, output: 12, whole: true } }`;
    expect(classesOf(whole)?.[0]).toMatchObject({ cacheRead: 2_000_000n });
    expect(modelsOf(whole)[0]?.priceOrigin).toEqual({ by: 'operator', list: null, asOf: null });
    const pieces = classesOf(`${on('gpt-5')}prices: { gpt-5: { perImage: 0.04 } }`);
    expect(pieces?.[0]).toMatchObject({ input: 0n, output: 0n, perImage: 40_000_000_000n });
  });

  test('keeps the tiers of the list price, but for what it says', () => {
    const name = 'gemini-2.5-pro';
    const list = modelsOf(on(name))[0]?.price ?? [];
    const standard = list.filter(({ service }) => service === undefined);
    const own = modelsOf(`${on(name)}prices: { ${name}: { output: 20 } }`)[0]?.price ?? [];
    expect(own.map(({ aboveInputTokens }) => aboveInputTokens)).toEqual([0, 200_000]);
    expect(own.map(({ classes }) => classes.output)).toEqual([20_000_000n, 20_000_000n]);
    expect(own.map(({ classes }) => classes.input)).toEqual(standard.map(({ classes }) => classes.input));
    // Fees are the list's; its other service tiers would not fit to another price.
    expect(list.length).toBeGreaterThan(standard.length);
    expect(own[0]?.fees).toEqual(list[0]?.fees);
    const withFee = modelsOf(`${on(name)}prices: { ${name}: { perGrounding: 0.05 } }`)[0]?.price ?? [];
    expect(withFee.length).toBe(list.length);
    expect(withFee.at(-1)?.fees?.perGrounding).toBe(50_000_000_000n);
    const tiered = `prices: { ${name}: { tiers: [{ aboveInputTokens: 1000, output: 30 }], output: 20 } }`;
    const ofOwnTiers = modelsOf(`${on(name)}${tiered}`)[0]?.price ?? [];
    expect(ofOwnTiers.map(({ aboveInputTokens }) => aboveInputTokens)).toEqual([0, 1000]);
    expect(ofOwnTiers.map(({ classes }) => classes.output)).toEqual([20_000_000n, 30_000_000n]);
  });

  test('gives nothing away: what nobody says the price of has to be said', () => {
    expect(problemsOf(`${on('unheard-of')}prices: { unheard-of: { output: 12 } }`)).toContain(
      'leaves out input, and the catalogue has no price of this model to take it from; write input: 0 if it is free',
    );
    expect(problemsOf(`${on('unheard-of')}prices: { unheard-of: { perCall: 0.1 } }`)).toBe('');
  });

  test('costs of a channel are filled up from the list of its provider', () => {
    const yaml = 'channels: { main: { provider: openai, models: { gpt-5: { cost: { output: 5 } } } } }';
    const read = declared(yaml);
    expect(read.ok && read.value.channels[0]?.models[0]?.cost?.[0]?.classes).toMatchObject({
      input: 1_250_000n,
      cacheRead: 125_000n,
      output: 5_000_000n,
    });
  });
});
