import { noTerms, noUsage, totalInput, type Usage, type UsageTerms } from '@headgate/protocols';
import { type PicoUsd, picoUsd } from './money.ts';
import {
  type FeePart,
  factorIn,
  feeOf,
  type Ppm,
  type PricedPart,
  type PriceTier,
  type PriceVersion,
  priceUsage,
  tierFor,
} from './price.ts';

/** One product of a charge: so many units at a price each. */
export interface PriceTerm {
  /** The part of usage, as `inputFresh`; `call` for what a call costs by itself. */
  readonly what: string;
  readonly units: bigint;
  readonly price: PicoUsd;
  /** The factor of a region, in parts per million. */
  readonly factorPpm: Ppm;
  /** The row of the price that it is from, where there are several: tokens of input that it begins above. */
  readonly aboveInputTokens: number;
}

const plain = 1_000_000n;

/** The parts of usage that are tokens, each with the class that prices it. */
const classOf = {
  inputFresh: 'input',
  inputCacheRead: 'cacheRead',
  inputCacheWrite5m: 'cacheWrite5m',
  inputCacheWrite1h: 'cacheWrite1h',
  inputCacheReadAudio: 'cacheReadAudio',
  inputAudio: 'audioInput',
  inputImage: 'imageInput',
  output: 'output',
  outputReasoning: 'reasoning',
  outputAudio: 'audioOutput',
  outputImage: 'imageOutput',
} as const satisfies Partial<Record<keyof Usage, keyof PriceTier['classes']>>;

/** The products whose sum, times the multiplier, is the charge: for people to see where it comes from. `priceUsage` is what charges. */
export function priceTerms(
  usage: Usage,
  version: PriceVersion,
  terms: UsageTerms = noTerms,
  parts: readonly PricedPart[] | null = null,
): readonly PriceTerm[] {
  const { service, promptTokens } = terms;
  const tier = tierFor(version.tiers, service, promptTokens ?? totalInput(usage));
  const priced = parts ?? [{ price: version, usage }];
  const tokens = priced.flatMap((part) => {
    const row = parts === null ? tier : tierFor(part.price.tiers, service, totalInput(part.usage));
    return tokenTerms(part.usage, row, terms);
  });
  return [...tokens, ...feeTerms(usage, version, tier, terms)].filter(
    ({ units, price }) => units !== 0n && price !== 0n,
  );
}

function tokenTerms(usage: Usage, { classes, regions, aboveInputTokens }: PriceTier, terms: UsageTerms) {
  const factorPpm = terms.region === null ? plain : (factorIn(regions, terms.region) ?? plain);
  const thought = classes.reasoning === undefined ? 0 : usage.outputReasoning;
  const units = { ...usage, output: usage.output - thought, outputReasoning: thought };
  const usual = { cacheReadAudio: classes.cacheRead, reasoning: classes.output };
  return Object.entries(classOf).map(([what, name]): PriceTerm => {
    // The keys of the table are parts of usage.
    const part = what as keyof typeof classOf;
    return {
      what,
      units: BigInt(units[part]),
      price: { ...usual, ...classes }[name],
      factorPpm,
      aboveInputTokens,
    };
  });
}

/** Pieces are priced as `priceUsage` prices a call that has nothing else, so that what is free in it is free here. */
function feeTerms(usage: Usage, version: PriceVersion, tier: PriceTier, terms: UsageTerms): PriceTerm[] {
  const { aboveInputTokens } = tier;
  const only = (part: keyof Usage, units: number): PicoUsd => priceOfOne(part, units, version, tier, terms);
  const call = only('images', 0);
  const piece = (part: 'images' | FeePart): PriceTerm => ({
    what: part,
    units: BigInt(usage[part]),
    price: picoUsd(usage[part] === 0 ? 0n : only(part, 1) - call),
    factorPpm: plain,
    aboveInputTokens,
  });
  // The keys of the table are its parts.
  const parts = ['images', ...(Object.keys(feeOf) as FeePart[])] as const;
  return [{ what: 'call', units: 1n, price: call, factorPpm: plain, aboveInputTokens }, ...parts.map(piece)];
}

const nanoPerPico = 1_000n;

/** Asked in the row that holds, and times a thousand, so that nothing of it is rounded. */
function priceOfOne(
  part: keyof Usage,
  units: number,
  version: PriceVersion,
  tier: PriceTier,
  terms: UsageTerms,
): PicoUsd {
  const { aboveInputTokens: _, service: __, ...row } = tier;
  const alone = { ...version, tiers: [{ ...row, aboveInputTokens: 0 }] };
  const usage: Usage = { ...noUsage, [part]: units };
  const noService = { ...terms, service: null, promptTokens: null };
  return picoUsd(priceUsage(usage, alone, plain * nanoPerPico, noService));
}
