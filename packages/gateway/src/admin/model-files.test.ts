import { describe, expect, test } from 'vitest';
import { type Effort, parseModelFile, type SamplingParameter } from '../catalogue/model-facts.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { modelFiles } from './model-files.ts';

const files = [...modelFiles(null)];
const catalogue = openCatalogueFiles();
const book = catalogue.models();

describe('the files of models', () => {
  test.each(files)(
    '%s has the shape that the readers rely on, and belongs to providers there are',
    (name, file) => {
      expect(parseModelFile(file)).toMatchObject({ ok: true });
      expect(file.providers[0]).toBe(name);
      for (const id of file.providers) expect(catalogue.providerIds).toContain(id);
      expect(Object.keys(file.models)).not.toHaveLength(0);
    },
  );

  test('no provider is in two files', () => {
    const providers = files.flatMap(([, file]) => file.providers);
    expect(new Set(providers).size).toBe(providers.length);
  });

  test.each(files)('the numbers of %s are of a believable size, and agree with each other', (_, file) => {
    for (const [id, model] of Object.entries(file.models)) {
      const { contextWindow, maxOutputTokens, maxInputTokens, reasoning } = model;
      expect(contextWindow ?? 4096, id).toBeGreaterThanOrEqual(1024);
      expect(contextWindow ?? 4096, id).toBeLessThanOrEqual(20_000_000);
      if (contextWindow && maxOutputTokens) expect(maxOutputTokens, id).toBeLessThanOrEqual(contextWindow);
      if (contextWindow && maxInputTokens) expect(maxInputTokens, id).toBeLessThan(contextWindow);
      if (reasoning.mode === 'none') expect(reasoning.efforts ?? [], id).toEqual([]);
      if (reasoning.mode === 'always') expect(reasoning.efforts ?? [], id).not.toContain('none');
    }
  });

  test('every field names a source, and every source has a date', () => {
    for (const [name, file] of files) {
      for (const [id, model] of Object.entries(file.models)) {
        const { sources = {}, aliases: _, ...fields } = model;
        const named = Object.values(sources).flat();
        for (const field of Object.keys(fields)) {
          const isFilledIn =
            field === 'name' || (field === 'reasoning' && model.reasoning.mode === 'unknown');
          if (!isFilledIn) expect(named, `${name} ${id}`).toContain(field);
        }
        const own = ['overlay', 'dated version'];
        for (const source of Object.keys(sources))
          expect([...own, ...Object.keys(file.sources)]).toContain(source);
      }
    }
  });
});

interface Checked {
  readonly mode: 'none' | 'optional' | 'always';
  readonly efforts?: string;
  readonly defaultEffort?: Effort;
  readonly budget?: readonly [min: number, max: number];
  readonly context: number;
  readonly output: number;
  readonly input: string;
  readonly refuses?: readonly SamplingParameter[];
  readonly onlyWithoutThought?: readonly SamplingParameter[];
}

const sampling: readonly SamplingParameter[] = ['temperature', 'top_p', 'top_k'];
const penalties: readonly SamplingParameter[] = ['frequency_penalty', 'presence_penalty'];
const adaptive = 'low medium high xhigh max';
const million = 1_000_000;
const gemini = { context: 1_048_576, output: 65_536, input: 'text image pdf audio video' };
const claude5 = {
  efforts: adaptive,
  context: million,
  output: 128_000,
  input: 'text image pdf',
  refuses: sampling,
};
const gpt6 = { context: 1_050_000, output: 128_000, input: 'text image pdf' };
const gpt5 = {
  mode: 'always',
  context: 400_000,
  output: 128_000,
  input: 'text image pdf',
  refuses: [...sampling, ...penalties, 'logprobs'],
} as const;

/** What the vendors' documentation said on 2026-11-22, read by hand. */
const checked: readonly (readonly [provider: string, model: string, Checked])[] = [
  ['openai', 'gpt-4o', { mode: 'none', context: 128_000, output: 16_384, input: 'text image pdf' }],
  ['openai', 'gpt-4.1', { mode: 'none', context: 1_047_576, output: 32_768, input: 'text image pdf' }],
  [
    'openai',
    'o3',
    {
      mode: 'always',
      efforts: 'low medium high',
      defaultEffort: 'medium',
      context: 200_000,
      output: 100_000,
      input: 'text image pdf',
      refuses: [...sampling, ...penalties, 'logprobs', 'stop', 'n'],
    },
  ],
  ['openai', 'gpt-5', { ...gpt5, efforts: 'minimal low medium high', defaultEffort: 'medium' }],
  [
    'openai',
    'gpt-5-mini-2025-08-07',
    { ...gpt5, efforts: 'minimal low medium high', defaultEffort: 'medium' },
  ],
  [
    'openai',
    'gpt-5.1',
    {
      mode: 'optional',
      efforts: 'none low medium high',
      defaultEffort: 'none',
      context: 400_000,
      output: 128_000,
      input: 'text image pdf',
      onlyWithoutThought: ['temperature', 'top_p', 'logprobs'],
    },
  ],
  [
    'openai',
    'gpt-5.6',
    {
      ...gpt6,
      mode: 'optional',
      efforts: `none ${adaptive}`,
      defaultEffort: 'medium',
      onlyWithoutThought: ['temperature'],
    },
  ],
  [
    'openai',
    'gpt-6-sol',
    {
      ...gpt6,
      mode: 'optional',
      efforts: `none ${adaptive}`,
      defaultEffort: 'medium',
      onlyWithoutThought: ['temperature'],
    },
  ],
  ['openai', 'gpt-6.2-sol', { ...gpt6, mode: 'always', efforts: adaptive }],
  ['anthropic', 'claude-opus-5-5', { ...claude5, mode: 'always', defaultEffort: 'medium' }],
  ['anthropic', 'claude-fable-5-1', { ...claude5, mode: 'always', defaultEffort: 'high' }],
  ['anthropic', 'claude-sonnet-5-5', { ...claude5, mode: 'optional', defaultEffort: 'high' }],
  ['anthropic', 'claude-haiku-5-5', { ...claude5, mode: 'optional', defaultEffort: 'medium' }],
  ['anthropic', 'claude-opus-5', { ...claude5, mode: 'optional', defaultEffort: 'high' }],
  ['anthropic', 'claude-opus-4-7', { ...claude5, mode: 'optional', defaultEffort: 'none' }],
  [
    'anthropic',
    'claude-opus-4-5-20251101',
    {
      mode: 'optional',
      efforts: 'low medium high',
      defaultEffort: 'none',
      budget: [1024, 63_999],
      context: 200_000,
      output: 64_000,
      input: 'text image pdf',
      onlyWithoutThought: ['temperature', 'top_k'],
    },
  ],
  [
    'anthropic',
    'claude-haiku-4-5',
    {
      mode: 'optional',
      defaultEffort: 'none',
      budget: [1024, 63_999],
      context: 200_000,
      output: 64_000,
      input: 'text image pdf',
      onlyWithoutThought: ['temperature'],
    },
  ],
  ['google', 'gemini-2.5-pro', { ...gemini, mode: 'always', budget: [128, 32_768] }],
  ['google', 'gemini-2.5-flash', { ...gemini, mode: 'optional', budget: [0, 24_576] }],
  [
    'google',
    'gemini-2.5-flash-lite',
    { ...gemini, mode: 'optional', defaultEffort: 'none', budget: [512, 24_576] },
  ],
  [
    'google',
    'gemini-3.8-flash',
    { ...gemini, mode: 'always', efforts: 'low medium high', defaultEffort: 'medium', refuses: sampling },
  ],
  [
    'google',
    'gemini-4-argon',
    { ...gemini, mode: 'always', efforts: 'low medium high', defaultEffort: 'medium' },
  ],
  [
    'deepseek',
    'deepseek-flash',
    {
      mode: 'optional',
      efforts: 'low high max',
      defaultEffort: 'high',
      context: million,
      output: 384_000,
      input: 'text image',
      onlyWithoutThought: ['temperature', ...penalties],
    },
  ],
  [
    'deepseek',
    'deepseek-v4-pro',
    {
      mode: 'optional',
      efforts: 'low high max',
      defaultEffort: 'high',
      context: million,
      output: 384_000,
      input: 'text',
      onlyWithoutThought: ['temperature', ...penalties],
    },
  ],
  [
    'mistral',
    'mistral-large-4-0',
    { mode: 'always', efforts: 'low medium high', context: 1_048_576, output: 262_144, input: 'text image' },
  ],
  [
    'mistral',
    'mistral-small-latest',
    {
      mode: 'optional',
      efforts: 'none high',
      defaultEffort: 'none',
      context: 262_144,
      output: 256_000,
      input: 'text image',
    },
  ],
  [
    'xai',
    'grok-4.5',
    {
      mode: 'always',
      efforts: 'low medium high',
      defaultEffort: 'high',
      context: 500_000,
      output: 0,
      input: 'text image pdf',
      refuses: [...penalties, 'stop'],
    },
  ],
  [
    'xai',
    'grok-4.3',
    {
      mode: 'optional',
      efforts: 'none low medium high',
      context: million,
      output: 30_000,
      input: 'text image pdf',
    },
  ],
  [
    'moonshot',
    'kimi-k3',
    {
      mode: 'always',
      efforts: 'low high max',
      defaultEffort: 'max',
      context: 1_048_576,
      output: 131_072,
      input: 'text image video',
      refuses: ['temperature', 'top_p', 'n', ...penalties],
    },
  ],
  [
    'moonshot',
    'kimi-k2.6',
    {
      mode: 'optional',
      context: 262_144,
      output: 0,
      input: 'text image video',
      refuses: ['temperature', 'top_p', 'n', ...penalties],
    },
  ],
  [
    'alibaba',
    'qwen3.8-max',
    {
      mode: 'always',
      efforts: 'low medium xhigh',
      defaultEffort: 'medium',
      budget: [0, 262_144],
      context: million,
      output: 131_072,
      input: 'text image pdf video',
    },
  ],
  [
    'alibaba',
    'qwen-plus',
    { mode: 'optional', defaultEffort: 'none', context: million, output: 32_768, input: 'text' },
  ],
  [
    'zai',
    'glm-5.3',
    {
      mode: 'always',
      efforts: 'low high max',
      defaultEffort: 'max',
      context: million,
      output: 131_072,
      input: 'text',
    },
  ],
];

test.each(checked)('%s %s is as its vendor describes it', (provider, model, expected) => {
  const facts = book.find(provider, model);
  const { refuses = [], onlyWithoutThought = [], budget } = expected;
  expect({
    mode: facts.reasoning.mode,
    efforts: facts.reasoning.efforts?.join(' ') ?? '',
    defaultEffort: facts.reasoning.defaultEffort,
    budget: facts.reasoning.budget,
    context: facts.contextWindow,
    output: facts.maxOutputTokens ?? 0,
    input: facts.inputModalities?.join(' '),
    tools: facts.tools,
  }).toEqual({
    mode: expected.mode,
    efforts: expected.efforts ?? '',
    defaultEffort: expected.defaultEffort ?? null,
    budget: budget === undefined ? null : { min: budget[0], max: budget[1] },
    context: expected.context,
    output: expected.output,
    input: expected.input,
    tools: true,
  });
  for (const parameter of refuses) expect(facts.parameters[parameter], parameter).toBe(false);
  for (const parameter of onlyWithoutThought)
    expect(facts.parameters[parameter], parameter).toBe('without-thought');
});

test('a model whose name begins as another one’s is another model', () => {
  expect(book.find('openai', 'gpt-5-codex-max').reasoning.mode).toBe('unknown');
  expect(book.find('openai', 'gpt-5.1-codex-max').name).not.toBe(book.find('openai', 'gpt-5.1').name);
});

test('a model is known by whoever serves it', () => {
  const facts = book.find('a-host-of-ones-own', 'anthropic/claude-opus-5-5');
  expect(facts).toBe(book.find('anthropic', 'claude-opus-5-5'));
});
