import {
  type InboundRequest,
  noTerms,
  noUsage,
  totalInput,
  type Usage,
  type UsageTerms,
  type Work,
} from '@headgate/protocols';
import type { Model } from '../../catalogue/catalogue.ts';
import { zeroNanoUsd } from '../../money/money.ts';
import { type PriceVersion, priceUsage } from '../../money/price.ts';
import type { Taken } from '../../ports/holds.ts';
import { sentTerms } from '../detours/unpriced.ts';

/** Estimates of input are by bytes, and somewhat low where a text is not prose. */
const inputPercent = 105;
/** Tokens that are held where nobody says how long an answer may be, and it is not known how long such answers are. */
const unknownOutputTokens = 4_096;
/** A stream begins with fewer then: it takes more when it comes near the end of them. */
const firstOutputTokens = 1_024;
/** Tokens of a square image, by the quality that is asked for; of one that is not square it is half as much more. */
const tokensPerImage: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };

/** Everything that the demand of a call follows from. */
export interface Asking {
  readonly request: Pick<InboundRequest, 'facts' | 'asks'>;
  readonly work: Work;
  readonly model: Pick<Model, 'maxOutputTokens' | 'price'>;
  /** Tokens that answers to this key by this model hardly ever exceed; null where that is not known. */
  readonly usualMax: number | null;
}

/** The most that a call is expected to use (docs/billing.md, "Holds and refusals"). */
export function expectedUsage({ request, work, model, usualMax }: Asking): Usage {
  const { facts } = request;
  const inputFresh = Math.ceil((facts.inputTokensEstimate * inputPercent) / 100);
  if (work === 'embed') return { ...noUsage, inputFresh };
  const { choices, needs } = facts;
  if (facts.makesImages) {
    const outputImage = choices * (usualMax ?? imageTokens(facts.terms));
    return { ...noUsage, inputFresh, outputImage, images: choices };
  }
  const output = choices * outputTokens(facts, model, usualMax);
  const fees = model.price === null ? noUsage : feesAsked(request, model.price);
  // Words are cheaper than sound, and how much there will be of either is not known.
  const written = needs.has('audio-output') ? { outputAudio: output } : { output };
  return { ...fees, inputFresh, ...written };
}

function outputTokens(
  { maxOutputTokens, stream }: InboundRequest['facts'],
  model: Asking['model'],
  usualMax: number | null,
): number {
  // Some callers allow more than there is of any model.
  const possible = model.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const allowed = Math.min(maxOutputTokens ?? possible, possible);
  if (usualMax !== null) return Math.min(allowed, usualMax);
  if (stream) return Math.min(allowed, firstOutputTokens);
  return maxOutputTokens === null ? Math.min(allowed, unknownOutputTokens) : allowed;
}

function imageTokens({ size, quality }: UsageTerms = noTerms): number {
  const square = tokensPerImage[quality ?? 'medium'] ?? 1_056;
  const [width, height] = size?.split('x') ?? [];
  return width === height ? square : square * 1.5;
}

/** Each tool with a fee that the request has is expected to be used once. */
function feesAsked({ facts, asks }: Asking['request'], { tiers }: PriceVersion): Usage {
  const mayAsk = facts.terms !== undefined || facts.needs.has('tools');
  if (!mayAsk || asks === undefined || !tiers.some(({ fees, searches }) => fees ?? searches)) return noUsage;
  const asked: { -readonly [Part in keyof Usage]: number } = { ...noUsage };
  for (const { term } of asks()) if (term !== 'service' && term !== 'region') asked[term] = 1;
  return asked;
}

/** The terms that a charge is expected to go by. */
export function expectedTerms(request: InboundRequest, price: PriceVersion | null): UsageTerms {
  return request.facts.terms === undefined ? noTerms : sentTerms(request, [], undefined, price);
}

/** The amounts that usage takes of limits. Nothing is charged without a price. */
export function takenBy(
  usage: Usage,
  price: PriceVersion | null,
  multiplierPpm: bigint,
  terms: UsageTerms,
): Taken {
  const chargeNanoUsd = price === null ? zeroNanoUsd : priceUsage(usage, price, multiplierPpm, terms);
  return { chargeNanoUsd, tokens: tokensOf(usage), images: usage.images };
}

/** Input and output together, in tokens. */
export function tokensOf(usage: Usage): number {
  return totalInput(usage) + outputTokensOf(usage);
}

export function outputTokensOf({ output, outputAudio, outputImage }: Usage): number {
  return output + outputAudio + outputImage;
}
