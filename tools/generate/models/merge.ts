import {
  type Effort,
  efforts,
  type ModelFacts,
  type SamplingParameter,
} from '../../../packages/gateway/src/catalogue/model-facts.ts';
import type { Claim } from './claim.ts';

/** One thing that sources do not agree about. */
export interface Contradiction {
  readonly file: string;
  readonly model: string;
  readonly field: string;
  readonly said: readonly (readonly [source: string, value: unknown])[];
  readonly taken: unknown;
}

export type DraftFacts = Partial<Omit<ModelFacts, 'sources'>> & {
  readonly sources: Record<string, string[]>;
};

/** A value with the source it was taken from. */
interface Taken<Value> {
  readonly value: Value;
  readonly source: string;
}

/** The order in which sources break a tie: the newest data first. */
const newestFirst = ['litellm', 'pi', 'catwalk', 'models.dev', 'models.dev-dates', 'genai-prices'];

/** For sizes, the source that takes them from the vendors' tables: others take what a prompt may have for the window, or their own default. */
const tablesFirst = ['models.dev', 'pi', 'litellm', 'catwalk', 'genai-prices'];

/** What a source says of one field; several values where it may mean one or the other. */
interface Saying<Value> {
  readonly source: string;
  readonly values: readonly Value[];
}

class Merge {
  readonly contradictions: Contradiction[] = [];
  readonly #place: Pick<Contradiction, 'file' | 'model'>;
  readonly #claims: readonly Claim[];

  constructor(place: Pick<Contradiction, 'file' | 'model'>, claims: readonly Claim[]) {
    this.#place = place;
    this.#claims = claims;
  }

  /** The value that most sources have, else the one of the first in the order. */
  settle<Value>(
    field: string,
    read: (claim: Claim) => readonly Value[] | undefined,
    order = newestFirst,
  ): Taken<Value> | null {
    const said = this.#said(read, order);
    const taken = mostNamed(said);
    if (taken !== null && said.some(({ values }) => !includes(values, taken.value))) {
      const values = said.map(({ source, values: [value] }) => [source, value] as const);
      this.contradictions.push({ ...this.#place, field, said: values, taken: taken.value });
    }
    return taken;
  }

  one<Value>(
    field: string,
    read: (claim: Claim) => Value | undefined,
    order = newestFirst,
  ): Taken<Value> | null {
    return this.settle(field, listed(read), order);
  }

  first<Value>(read: (claim: Claim) => Value | undefined): Taken<Value> | null {
    const [said] = this.#said(listed(read), newestFirst);
    const value = said?.values[0];
    return said === undefined || value === undefined ? null : { value, source: said.source };
  }

  /** Sources know these in different depth, so the one that says most is right, and the others do not contradict it. */
  longest<Value>(read: (claim: Claim) => readonly Value[] | undefined): Taken<readonly Value[]> | null {
    let best: Taken<readonly Value[]> | null = null;
    for (const { source, values } of this.#said(read, newestFirst))
      if (best === null || values.length > best.value.length) best = { value: values, source };
    return best;
  }

  #said<Value>(
    read: (claim: Claim) => readonly Value[] | undefined,
    order: readonly string[],
  ): readonly Saying<Value>[] {
    return order.flatMap((source) => {
      const claim = this.#claims.find((each) => each.source === source);
      const values = claim && read(claim);
      return values === undefined ? [] : [{ source, values }];
    });
  }
}

function listed<Value>(
  read: (claim: Claim) => Value | undefined,
): (claim: Claim) => readonly Value[] | undefined {
  return (claim) => {
    const value = read(claim);
    return value === undefined ? undefined : [value];
  };
}

/** Merges what the sources say of one model. */
export function mergeClaims(
  file: string,
  model: string,
  claims: readonly Claim[],
): { facts: DraftFacts; contradictions: readonly Contradiction[] } {
  const merge = new Merge({ file, model }, claims);
  const contextWindow = merge.settle('contextWindow', ({ context }) => context, tablesFirst);
  const maxInput = merge.first((claim) => claim.maxInput);
  const maxOutput = merge.one('maxOutputTokens', outputLimit, tablesFirst);
  const window = contextWindow?.value ?? Number.POSITIVE_INFINITY;
  const temperature = merge.one('temperature', (claim) => claim.samples ?? claim.temperature);
  const facts = draftOf({
    name: merge.first((claim) => claim.name?.replace(/ \(latest\)$/, '')),
    contextWindow,
    maxInputTokens: maxInput !== null && contextWindow !== null && maxInput.value < window ? maxInput : null,
    // A source may speak of one window, and another one of an output that fits only into a larger.
    maxOutputTokens: maxOutput !== null && maxOutput.value < window ? maxOutput : null,
    inputModalities: merge.longest((claim) => claim.input),
    outputModalities: merge.longest((claim) => claim.output),
    tools: merge.one('tools', (claim) => claim.tools),
    structuredOutput: merge.one('structuredOutput', (claim) => claim.structuredOutput),
    knowledge: merge.first((claim) => claim.knowledge),
    released: merge.first((claim) => claim.released),
    deprecation: merge.first((claim) => claim.deprecation),
    parameters: mergeParameters(temperature, claims),
    reasoning: mergeReasoning(merge),
  });
  return { facts, contradictions: merge.contradictions };
}

/** A limit as large as the whole window says only that the source knows of none. */
function outputLimit({ maxOutput, context }: Claim): number | undefined {
  return maxOutput !== undefined && maxOutput < (context?.[0] ?? Number.POSITIVE_INFINITY)
    ? maxOutput
    : undefined;
}

function draftOf(fields: Readonly<Record<string, Taken<unknown> | null>>): DraftFacts {
  const sources: Record<string, string[]> = {};
  const values: Record<string, unknown> = {};
  for (const [field, taken] of Object.entries(fields)) {
    if (taken === null) continue;
    values[field] = taken.value;
    sources[taken.source] = [...(sources[taken.source] ?? []), field];
  }
  return { ...values, sources };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function includes<Value>(values: readonly Value[], value: Value): boolean {
  return values.some((each) => same(each, value));
}

function mostNamed<Value>(said: readonly Saying<Value>[]): Taken<Value> | null {
  let best: (Taken<Value> & { votes: number }) | null = null;
  // The first value of each source comes first, so that a second meaning counts only where others support it.
  for (const depth of [0, 1]) {
    for (const { source, values } of said) {
      const value = values[depth];
      if (value === undefined) continue;
      const votes = said.filter((other) => includes(other.values, value)).length;
      if (best === null || votes > best.votes) best = { value, source, votes };
    }
  }
  return best;
}

/** Sources speak of temperature, or of sampling as a whole. */
function mergeParameters(
  temperature: Taken<boolean> | null,
  claims: readonly Claim[],
): Taken<Partial<Record<SamplingParameter, boolean>>> | null {
  if (temperature === null) return null;
  const isWhole = claims.some(({ samples }) => samples === false);
  const value =
    isWhole && !temperature.value
      ? { temperature: false, top_p: false, top_k: false }
      : { temperature: temperature.value };
  return { value, source: temperature.source };
}

function mergeReasoning(merge: Merge): Taken<unknown> | null {
  const thinks = merge.one('reasoning', (claim) => claim.thinks);
  const always = merge.one('reasoning.always', (claim) => claim.always);
  const accepted = merge.one('reasoning.efforts', (claim) => claim.efforts);
  const said = merge.first((claim) => claim.defaultEffort);
  if (thinks === null) return null;
  if (!thinks.value) return { value: { mode: 'none' }, source: thinks.source };
  const words: readonly Effort[] = accepted?.value ?? [];
  const mode = always?.value === true && !words.includes('none') ? 'always' : 'optional';
  const usual = said !== null && words.includes(said.value) ? said.value : null;
  return {
    value: {
      mode,
      ...(words.length > 0 && { efforts: efforts.filter((effort) => words.includes(effort)) }),
      ...(usual !== null && { defaultEffort: usual }),
    },
    source: accepted?.source ?? thinks.source,
  };
}
