import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';

/** The words by which vendors say how much a model may think. Least first. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export const modalities = ['text', 'image', 'pdf', 'audio', 'video'] as const;
export type Modality = (typeof modalities)[number];

export const samplingParameters = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'seed',
  'logprobs',
  'n',
  'max_tokens',
] as const;
export type SamplingParameter = (typeof samplingParameters)[number];

const tokens = z.int().positive();
/** A day, or a month where no more is known. */
const day = z.string().regex(/^\d{4}-\d{2}(-\d{2})?$/);

const reasoning = z.strictObject({
  /** `always` cannot be switched off; `unknown` may do either. */
  mode: z.enum(['none', 'optional', 'always', 'unknown']),
  /** The words that the model accepts: none of them where the list is empty; null when not known. */
  efforts: z.array(z.enum(efforts)).nullable().default(null),
  /** The effort of a request that asks for none; null when not known. */
  defaultEffort: z.enum(efforts).nullable().default(null),
  /** Tokens of thought that a request may allow; null where budgets are not accepted, or nothing is known of them. */
  budget: z
    .strictObject({ min: z.int().min(0), max: tokens })
    .nullable()
    .default(null),
});

const modelFacts = z.strictObject({
  name: z.string().min(1),
  /** Other names of the same model there. */
  aliases: z.array(z.string().min(1)).default([]),
  reasoning,
  /**
   * True for a parameter that is accepted; one with `without-thought` is accepted, or has an effect, only where the model does not think.
   * One that is missing is not known to be refused.
   */
  parameters: z
    .partialRecord(z.enum(samplingParameters), z.union([z.boolean(), z.literal('without-thought')]))
    .default({}),
  /** Tokens of prompt and answer together. */
  contextWindow: tokens.nullable().default(null),
  maxInputTokens: tokens.nullable().default(null),
  maxOutputTokens: tokens.nullable().default(null),
  inputModalities: z.array(z.enum(modalities)).nullable().default(null),
  outputModalities: z.array(z.enum(modalities)).nullable().default(null),
  tools: z.boolean().nullable().default(null),
  structuredOutput: z.boolean().nullable().default(null),
  /** The day up to which it knows the world. */
  knowledge: day.nullable().default(null),
  released: day.nullable().default(null),
  /** The day from which its vendor does not answer for it any more. */
  deprecation: day.nullable().default(null),
  /** The fields by the source that they were taken from; the file has the date of each source. */
  sources: z.record(z.string(), z.array(z.string())).default({}),
});

/** One model as its vendor, or a company that hosts it, has it. */
export type ModelFacts = z.output<typeof modelFacts>;

/** The record of a model as a file has it: what is not known is left out. */
type ModelRecord = z.input<typeof modelFacts>;

const modelFile = z.strictObject({
  /** The newer of two files of the same name holds. */
  asOf: z.iso.date(),
  /** True where the provider makes its models: then their bare names are found here, whoever serves them. */
  vendor: z.boolean(),
  /** Providers with the same models under the same names. */
  providers: z.array(z.string().min(1)).min(1),
  /** The dates of the sources. */
  sources: z.record(z.string(), z.iso.date()),
  models: z.record(z.string().min(1), modelFacts),
});

/** The models of one provider: a file of `catalogue/models`, written by tools/generate/models.ts. */
export type ModelFile = z.input<typeof modelFile>;

/** Reads a file of models; the error says what is wrong with it. */
export function parseModelFile(json: unknown): Result<ModelFile, string> {
  const read = modelFile.safeParse(json);
  // The text itself, not what was read from it: what it leaves out stays left out.
  if (read.success) return succeed(json as ModelFile);
  const [issue] = read.error.issues;
  return fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`);
}

/** Everything of a model of which nothing is known. */
export const unknownModel: ModelFacts = modelFacts.parse({ name: 'unknown', reasoning: { mode: 'unknown' } });

/** Tells if time must be allowed for thought: an unknown model is given it. */
export function mayReason({ reasoning: { mode } }: ModelFacts): boolean {
  return mode !== 'none';
}

/** Tells if a request may be told to think: an unknown model is not. */
export function takesReasoning({ reasoning: { mode } }: ModelFacts): boolean {
  return mode === 'optional' || mode === 'always';
}

type Names = ReadonlyMap<string, ModelRecord>;

/** All that is known of models, by the names that providers have for them. */
export class ModelBook {
  readonly #byProvider: ReadonlyMap<string, Names>;
  /** The vendors' files first: a host's facts stand for the model only where its maker says nothing. */
  readonly #all: readonly Names[];
  /** Few of the records are ever asked for, so each is read when it is. */
  readonly #read = new Map<ModelRecord, ModelFacts>();

  constructor(files: readonly ModelFile[]) {
    const ordered = [...files].sort((a, b) => Number(b.vendor) - Number(a.vendor));
    const named = ordered.map((file) => ({ providers: file.providers, names: namesOf(file) }));
    this.#byProvider = new Map(
      named.flatMap(({ providers, names }) => providers.map((id) => [id, names] as const)),
    );
    this.#all = named.map(({ names }) => names);
  }

  /** Finds a provider's model by its name there, else by that name alone. */
  find(providerId: string, upstreamModel: string): ModelFacts {
    const names = this.#byProvider.get(providerId);
    const record = names === undefined ? null : lookUp(names, upstreamModel);
    return record === null ? this.findByName(upstreamModel) : this.#factsOf(record);
  }

  /** Finds a model by its name alone: as it is, else without the maker's name before it, as in `maker/model`. */
  findByName(name: string): ModelFacts {
    const bare = name.slice(name.lastIndexOf('/') + 1);
    for (const names of this.#all) {
      const record = lookUp(names, name) ?? lookUp(names, bare);
      if (record !== null) return this.#factsOf(record);
    }
    return unknownModel;
  }

  #factsOf(record: ModelRecord): ModelFacts {
    const facts = this.#read.get(record) ?? modelFacts.parse(record);
    this.#read.set(record, facts);
    return facts;
  }
}

function namesOf({ models }: ModelFile): Names {
  const entries = Object.entries(models);
  const aliases = entries.flatMap(([, record]) =>
    (record.aliases ?? []).map((alias) => [alias, record] as const),
  );
  // A model's own name stands before another one's alias.
  return new Map([...aliases, ...entries].map(([name, record]) => [name.toLowerCase(), record]));
}

const date = /[-@](20\d{2})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$/;

/** The name of a model that a dated version of it is called by. */
export function withoutDate(name: string): string {
  return name.replace(date, '');
}

/** Finds a name, else the name without the date behind it. Another beginning of a name is another model. */
function lookUp(names: Names, name: string): ModelRecord | null {
  const lower = name.toLowerCase();
  return names.get(lower) ?? names.get(withoutDate(lower)) ?? null;
}
