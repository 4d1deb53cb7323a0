import {
  type ImageCount,
  noUsage,
  type Reading,
  totalInput,
  totalOutput,
  type Usage,
} from '@headgate/protocols';

/** Bytes of UTF-8 text per token, where an upstream reported no usage. */
const bytesPerTokenEstimate = 4;
/** Tokens of a square image in medium quality, where an upstream reported no usage. */
const tokensPerImageEstimate = 1_056;
/** A draft of an image is counted as so many tokens. */
const tokensPerDraftEstimate = 100;

export interface Metered {
  readonly usage: Usage;
  readonly source: 'upstream' | 'estimated' | 'none';
}

/** The size of a request as it is known without any count of the upstream's. */
export interface Estimates {
  readonly inputTokensEstimate: number;
  /** Allowed by the caller; null when it set no limit. */
  readonly outputTokensMax: number | null;
}

/**
 * The upstream's own count where it covers all that came; otherwise, if there was output, an estimate that is marked as
 * one, never less than what the upstream counted before, and else never more than the caller allowed. `producedTokens`: what was most
 * likely written, thought that nobody has seen included.
 */
export function meter(
  reading: Reading | null,
  { inputTokensEstimate, outputTokensMax }: Estimates,
  producedTokens = 0,
): Metered {
  if (reading === null) return { usage: noUsage, source: 'none' };
  const { usage, outputBytes, usageAtOutputBytes, hasOutput } = reading;
  if (usage === null && !hasOutput) return { usage: noUsage, source: 'none' };
  if (reading.images !== undefined) return meterImages(usage, reading.images, inputTokensEstimate);
  const isCovered = usage !== null && usageAtOutputBytes >= outputBytes;
  // Written out first, because every call passes.
  if (isCovered && ((usage.inputFresh > 0 && usage.output > 0) || !isTooLittle(usage, outputBytes)))
    return { usage, source: 'upstream' };
  const isUncounted = usage === null || (outputBytes > 0 && totalInput(usage) === 0);
  const counted = isUncounted ? { ...(usage ?? noUsage), inputFresh: inputTokensEstimate } : usage;
  const seen = Math.ceil(outputBytes / bytesPerTokenEstimate);
  const allowed = outputTokensMax ?? Number.POSITIVE_INFINITY;
  const output = Math.max(counted.output, Math.min(Math.max(1, seen, producedTokens), allowed));
  const unseen = producedTokens === 0 ? 0 : Math.max(0, output - seen);
  const outputReasoning = Math.max(counted.outputReasoning, unseen);
  return { usage: { ...counted, output, outputReasoning }, source: 'estimated' };
}

/** Text was written, and the count says that nothing was read or nothing was written for it: it is none. */
function isTooLittle(usage: Usage, outputBytes: number): boolean {
  return outputBytes > 0 && (totalOutput(usage) === 0 || totalInput(usage) === 0);
}

/** Pieces are always counted; tokens are estimated for those that no usage covers, and for drafts of one that never came. */
function meterImages(
  usage: Usage | null,
  { finished, drafts }: ImageCount,
  inputTokensEstimate: number,
): Metered {
  if (usage !== null && drafts === 0) return { usage, source: 'upstream' };
  const counted = usage ?? {
    ...noUsage,
    inputFresh: inputTokensEstimate,
    outputImage: finished * tokensPerImageEstimate,
    images: finished,
  };
  const outputImage = counted.outputImage + drafts * tokensPerDraftEstimate;
  return { usage: { ...counted, outputImage }, source: 'estimated' };
}
