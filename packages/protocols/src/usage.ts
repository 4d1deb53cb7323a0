import { isRecord, recordOf, tokenCount, type WireRecord } from './wire-values.ts';

/**
 * The consumption of one call, in tokens, or in pieces of what has a fee. The parts never overlap, but for images beside
 * their tokens, so a price is a plain sum over them; `outputReasoning` alone is already contained in `output`.
 */
export interface Usage {
  /** Text input that was neither read from nor written to a prompt cache. */
  readonly inputFresh: number;
  readonly inputCacheRead: number;
  readonly inputCacheWrite5m: number;
  readonly inputCacheWrite1h: number;
  readonly inputAudio: number;
  readonly inputImage: number;
  /** Text output, reasoning included. */
  readonly output: number;
  /** The tokens of `output` that were spent on reasoning: they may have a price of their own. */
  readonly outputReasoning: number;
  readonly outputAudio: number;
  readonly outputImage: number;
  /** Pieces, counted beside their tokens: a price is for the one or for the other. */
  readonly images: number;
  /** Sound that was read from a prompt cache; not in `inputCacheRead`. */
  readonly inputCacheReadAudio: number;
  /** Tokens of sources that were read for an answer, where they are counted apart from its input. */
  readonly citation: number;
  readonly webSearches: number;
  readonly fileSearches: number;
  /** Containers that code was run in, or runs of it where no container is named. */
  readonly codeSessions: number;
  /** 1 where the answer is grounded on searches of the upstream's, however many; these are `webSearches` beside it. */
  readonly groundings: number;
  /** Pages of documents that were read by sight. */
  readonly pages: number;
}

/** The share of one answer that one model had in it: vendors ask several for some, each by a request of its own. */
export interface Iteration {
  /** As the upstream names it; null where it names none, and the answer's own model is meant. */
  readonly model: string | null;
  readonly usage: Usage;
}

export const noUsage: Usage = {
  inputFresh: 0,
  inputCacheRead: 0,
  inputCacheWrite5m: 0,
  inputCacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  outputReasoning: 0,
  outputAudio: 0,
  outputImage: 0,
  images: 0,
  inputCacheReadAudio: 0,
  citation: 0,
  webSearches: 0,
  fileSearches: 0,
  codeSessions: 0,
  groundings: 0,
  pages: 0,
};

/** Tokens on the input side, whatever their class. Context tiers are chosen by this sum. */
export function totalInput(usage: Usage): number {
  return (
    usage.inputFresh +
    usage.inputCacheRead +
    usage.inputCacheWrite5m +
    usage.inputCacheWrite1h +
    usage.inputAudio +
    usage.inputImage +
    usage.inputCacheReadAudio
  );
}

/** Tokens and pieces on the output side, whatever their class. */
export function totalOutput(usage: Usage): number {
  return usage.output + usage.outputAudio + usage.outputImage + usage.images;
}

/** Both together, part by part. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputFresh: a.inputFresh + b.inputFresh,
    inputCacheRead: a.inputCacheRead + b.inputCacheRead,
    inputCacheWrite5m: a.inputCacheWrite5m + b.inputCacheWrite5m,
    inputCacheWrite1h: a.inputCacheWrite1h + b.inputCacheWrite1h,
    inputAudio: a.inputAudio + b.inputAudio,
    inputImage: a.inputImage + b.inputImage,
    output: a.output + b.output,
    outputReasoning: a.outputReasoning + b.outputReasoning,
    outputAudio: a.outputAudio + b.outputAudio,
    outputImage: a.outputImage + b.outputImage,
    images: a.images + b.images,
    inputCacheReadAudio: a.inputCacheReadAudio + b.inputCacheReadAudio,
    citation: a.citation + b.citation,
    webSearches: a.webSearches + b.webSearches,
    fileSearches: a.fileSearches + b.fileSearches,
    codeSessions: a.codeSessions + b.codeSessions,
    groundings: a.groundings + b.groundings,
    pages: a.pages + b.pages,
  };
}

/**
 * Prices go by these beside amounts. Words are as the wire spells them, but for service tiers, of which the protocols have
 * several spellings; null where nothing was said, and in an entry also what is usual.
 */
export interface UsageTerms {
  /** `priority`, `flex`, `batch`, `fast`, or a word that is not known; null is the standard tier. */
  readonly service: string | null;
  /** The place where the model has to run. */
  readonly region: string | null;
  /** How much of what a search finds is read. */
  readonly searchContext: string | null;
  /** An image's, as `quality` is. */
  readonly size: string | null;
  readonly quality: string | null;
  /** The prompt that the context tier goes by, where the usage sums up several; null for all of its input. */
  readonly promptTokens: number | null;
}

export const noTerms: UsageTerms = {
  service: null,
  region: null,
  searchContext: null,
  size: null,
  quality: null,
  promptTokens: null,
};

const wordCharsMax = 32;

/** One word of the terms, as it will be stored; null for anything else. */
export function termWord(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= wordCharsMax ? value : null;
}

/** An answer names the usual tier, or no particular region, by these words: they stand before what was asked for. */
export const usualService = 'standard';
export const usualRegion = 'global';

/** The terms of an answer that says no more than that its tier was the usual one. */
export const usualTerms: UsageTerms = { ...noTerms, service: usualService };

/** Takes the answer's word, or else the request's: an upstream may give another tier than it was asked for. */
export function mergeTerms(said: UsageTerms, asked: UsageTerms): UsageTerms {
  if (asked === noTerms && (said === noTerms || said === usualTerms)) return noTerms;
  const service = said.service ?? asked.service;
  const region = said.region ?? asked.region;
  const terms = {
    service: service === usualService ? null : service,
    region: region === usualRegion ? null : region,
    searchContext: said.searchContext ?? asked.searchContext,
    size: said.size ?? asked.size,
    quality: said.quality ?? asked.quality,
    promptTokens: said.promptTokens,
  };
  return isUsual(terms) ? noTerms : terms;
}

function isUsual({ service, region, searchContext, size, quality, promptTokens }: UsageTerms): boolean {
  const isPlain = service === null && region === null && searchContext === null;
  return isPlain && size === null && quality === null && promptTokens === null;
}

/** Images of one answer, in pieces. */
export interface ImageCount {
  readonly finished: number;
  /** Drafts of an image that is not finished: no usage covers them. */
  readonly drafts: number;
}

/**
 * The parts of input and output as chat and responses detail them; together they are never more than the sums, however the
 * details contradict those. `cached` and `reasoning`: where they are not told among the details.
 */
export function readInputParts(input: number, wire: unknown, cached: unknown = null) {
  const details = recordOf(wire);
  const rest = new Remainder(input);
  const cacheRead = rest.take(tokenCount(details['cached_tokens']) ?? tokenCount(cached));
  const inputCacheReadAudio = 'cached_tokens_details' in details ? cachedAudioIn(details, cacheRead) : 0;
  const inputCacheWrite5m = rest.take(tokenCount(details['cache_write_tokens']));
  const sound = tokenCount(details['audio_tokens']) ?? 0;
  // Sound that was cached is among the cached tokens, and may be among the sound, too.
  const inputAudio = rest.take(sound < inputCacheReadAudio ? sound : sound - inputCacheReadAudio);
  const inputImage = rest.take(tokenCount(details['image_tokens']));
  return {
    inputFresh: rest.left,
    inputCacheRead: cacheRead - inputCacheReadAudio,
    inputCacheReadAudio,
    inputCacheWrite5m,
    inputAudio,
    inputImage,
  };
}

function cachedAudioIn(details: WireRecord, cacheRead: number): number {
  const audio = tokenCount(recordOf(details['cached_tokens_details'])['audio_tokens']) ?? 0;
  return audio < cacheRead ? audio : cacheRead;
}

export function readOutputParts(total: number, wire: unknown, reasoning: number | null) {
  const details = recordOf(wire);
  const rest = new Remainder(total);
  const outputAudio = rest.take(tokenCount(details['audio_tokens']));
  const outputImage = rest.take(tokenCount(details['image_tokens']));
  return {
    output: rest.left,
    outputReasoning: Math.min(reasoning ?? 0, rest.left),
    outputAudio,
    outputImage,
  };
}

/** Hands out parts of a sum, never more than is left of it. */
export class Remainder {
  left: number;

  constructor(sum: number) {
    this.left = sum;
  }

  take(part: number | null): number {
    const taken = Math.min(part ?? 0, this.left);
    this.left -= taken;
    return taken;
  }
}

/** The parts of usage that count something else than what the model read and wrote. */
export type CountedFee = 'citation' | 'webSearches' | 'fileSearches' | 'codeSessions' | 'pages';

/**
 * The members of a `usage` object that count fees, in whichever protocol: of each fee the first line counts that is there,
 * and it is the sum of its members.
 */
export const feeMembers: Readonly<Record<CountedFee, readonly (readonly string[])[]>> = {
  citation: [['citation_tokens']],
  webSearches: [
    ['num_search_queries'],
    ['server_tool_use.web_search_requests'],
    ['server_tool_use_details.web_search_requests'],
    ['server_side_tool_usage_details.web_search_calls', 'server_side_tool_usage_details.x_search_calls'],
  ],
  fileSearches: [
    [
      'server_side_tool_usage_details.file_search_calls',
      'server_side_tool_usage_details.document_search_calls',
    ],
  ],
  codeSessions: [['server_side_tool_usage_details.code_interpreter_calls']],
  pages: [['pages_processed']],
};

const feeLines = Object.entries(feeMembers).flatMap(
  ([fee, lines]) =>
    lines.map((members) => ({ fee: fee as CountedFee, members: members.map((member) => member.split('.')) })), // As the table's keys are.
);

/** The members that begin the paths above: a `usage` without any of them has no fees. */
const feeRoots = [...new Set(feeLines.flatMap(({ members }) => members.map(([root = '']) => root)))];

/** Usage without counts of tokens: all that the object says of fees. */
export function readFees(wire: WireRecord): Usage {
  let hasFees = false;
  for (const root of feeRoots) hasFees ||= root in wire;
  if (!hasFees) return noUsage;
  const counts: { -readonly [Part in keyof Usage]: number } = { ...noUsage };
  for (const { fee, members } of feeLines) {
    if (counts[fee] !== 0) continue;
    for (const path of members) counts[fee] += tokenCount(memberAt(wire, path)) ?? 0;
  }
  return counts;
}

/** The value behind a path of members; undefined where there is none. */
export function memberAt(wire: WireRecord, path: readonly string[]): unknown {
  let value: unknown = wire;
  for (const name of path) value = isRecord(value) ? value[name] : undefined;
  return value;
}
