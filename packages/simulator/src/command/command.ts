import type { Fault } from './fault.ts';
import { readFault } from './fault.ts';
import type { Step } from './steps.ts';
import { readSteps } from './steps.ts';
import type { Drip, RetryAfter, Split } from './values.ts';
import {
  readCount,
  readDrip,
  readDuration,
  readRate,
  readRetryAfter,
  readShare,
  readSplit,
} from './values.ts';
import { WordReader } from './word-reader.ts';

/** Where a streamed answer states its usage. A JSON answer states it unless `never`. */
type UsagePlacement = 'asked' | 'unasked' | 'every' | 'content' | 'finish' | 'never';

/** One request's instructions, complete: what no word sets has its plain, well-behaved value. */
export interface Command {
  /** Words of visible text; null for the natural length. */
  readonly tokens: number | null;
  /** Overrides the counted prompt tokens; null counts them. */
  readonly promptTokens: number | null;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  /** Written to the cache that lasts an hour. */
  readonly cacheWrite1hTokens: number;
  /** Words of reasoning shown before the text. */
  readonly reasoningTokens: number;
  /** Reasoning tokens that are counted and not shown. */
  readonly hiddenReasoningTokens: number;
  /** Tool calls to make; null makes one when tools are offered. */
  readonly calls: number | null;
  /** The conversation as it is to go, instead of what the words above make of it; null leaves it to them. */
  readonly steps: readonly Step[] | null;
  readonly refusal: boolean;
  /** The finish word sent in the place of the right one; the word `null` sends null. Undefined leaves it alone. */
  readonly finish: string | null | undefined;
  /** The model name in the answer; null for the name asked for, without its command. */
  readonly served: string | null;
  readonly usage: UsagePlacement;
  readonly ttftMs: number;
  /** Content frames per second; null sends them all at once. */
  readonly framesPerSecond: number | null;
  readonly split: Split | null;
  readonly drip: Drip | null;
  readonly crlf: boolean;
  /** Whether a comment precedes every frame of a stream. */
  readonly comments: boolean;
  /** Silence after which a stream sends a comment; null never. */
  readonly keepAliveMs: number | null;
  readonly fault: Fault | null;
  /** Content frames that get through before a mid-stream fault. */
  readonly at: number;
  /** How long a stall lasts; Infinity for ever. */
  readonly stallMs: number;
  /** The first so many requests with the same command meet the fault; null all of them. */
  readonly times: number | null;
  /** Probability of the fault, 0 to 1. */
  readonly share: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly retryAfter: RetryAfter | null;
  /** Sent as written in `x-ratelimit-reset-requests`. */
  readonly rateLimitReset: string | null;
}

export type CommandResult =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads texts of the command grammar (`word=value,word=value,flag`), each one overriding the words of those
 * before it. The grammar and every word are documented in this package's README.
 */
export function readCommand(...texts: readonly string[]): CommandResult {
  const words = new WordReader(texts);
  const command: Command = {
    ...readAnswerWords(words),
    ...readWireWords(words),
    ...readFaultWords(words),
  };
  const problem = words.problem();
  return problem === null ? { ok: true, command } : { ok: false, problem };
}

function readAnswerWords(words: WordReader) {
  const finish = words.text('finish');
  return {
    tokens: words.value('tokens', readCount) ?? null,
    promptTokens: words.value('prompt', readCount) ?? null,
    cachedTokens: words.value('cached', readCount) ?? 0,
    cacheWriteTokens: words.value('cache-write', readCount) ?? 0,
    cacheWrite1hTokens: words.value('cache-write-1h', readCount) ?? 0,
    reasoningTokens: words.value('reasoning', readCount) ?? 0,
    hiddenReasoningTokens: words.value('hidden-reasoning', readCount) ?? 0,
    calls: words.value('calls', readCount) ?? null,
    steps: words.value('steps', readSteps) ?? null,
    refusal: words.flag('refusal'),
    finish: finish === 'null' ? null : finish,
    served: words.text('served') ?? null,
    usage: words.value('usage', readUsagePlacement) ?? ('asked' as const),
  };
}

function readWireWords(words: WordReader) {
  return {
    ttftMs: words.value('ttft', readDuration) ?? 0,
    framesPerSecond: words.value('rate', readRate) ?? null,
    split: words.value('split', readSplit) ?? null,
    drip: words.value('drip', readDrip) ?? null,
    crlf: words.flag('crlf'),
    comments: words.flag('comments'),
    keepAliveMs: words.value('keep-alive', readDuration) ?? null,
  };
}

function readFaultWords(words: WordReader) {
  return {
    fault: words.value('fault', readFault) ?? null,
    at: words.value('at', readCount) ?? 3,
    stallMs: words.value('for', readDuration) ?? Number.POSITIVE_INFINITY,
    times: words.value('times', readCount) ?? null,
    share: words.value('share', readShare) ?? 1,
    errorCode: words.text('code') ?? null,
    errorMessage: words.text('message') ?? null,
    retryAfter: words.value('retry-after', readRetryAfter) ?? null,
    rateLimitReset: words.text('reset') ?? null,
  };
}

const usagePlacements = ['asked', 'unasked', 'every', 'content', 'finish', 'never'] as const;

function readUsagePlacement(text: string): UsagePlacement | undefined {
  return usagePlacements.find((placement) => placement === text);
}
