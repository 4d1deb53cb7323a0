import { isRecord, parseJson, stringOf } from '../json.ts';
import {
  type Drip,
  type RetryAfter,
  readCount,
  readDrip,
  readDuration,
  readRate,
  readRetryAfter,
  readShare,
  readSplit,
  type Split,
  WordReader,
} from './words.ts';

/** The places at which a streamed answer states its usage. A JSON answer states it unless `never`. */
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
  /** Puts a comment before every frame of a stream. */
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

/** The deed of a placed fault when its place in the answer is reached. */
const acts = ['reset', 'stall', 'end', 'cut', 'garble', 'error'] as const;

/** The place in an answer at which a placed fault strikes. */
const places = ['before-head', 'before-content', 'mid-stream', 'before-done'] as const;

/** Faults that replace the answer or its labels as a whole. */
const replacements = ['html', 'html-403', 'empty', 'wrong-type'] as const;

/**
 * `reset` sends RST · `stall` falls silent · `end` ends the HTTP message cleanly, too early · `cut` closes the
 * connection in the middle of the HTTP message · `garble` slips in bytes that are not of the protocol ·
 * `error` puts an error in the place of content, under status 200.
 */
export type FaultAct = (typeof acts)[number];
export type FaultPlace = (typeof places)[number];
export type Replacement = (typeof replacements)[number];

export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'replacement'; readonly replacement: Replacement }
  | { readonly kind: 'placed'; readonly act: FaultAct; readonly place: FaultPlace };

/** The fault a word of the vocabulary names (`503`, `html`, `reset-mid-stream`), or undefined. */
function readFault(word: string): Fault | undefined {
  if (/^[45]\d\d$/.test(word)) return { kind: 'status', status: Number(word) };
  const replacement = replacements.find((name) => name === word);
  if (replacement !== undefined) return { kind: 'replacement', replacement };
  return readPlacedFault(word);
}

function readPlacedFault(word: string): Fault | undefined {
  const act = acts.find((name) => word.startsWith(`${name}-`));
  const place = places.find((name) => word === `${act}-${name}`);
  if (act === undefined || place === undefined) return undefined;
  // An error before the head is an error status, and that has its own word.
  if (act === 'error' && place === 'before-head') return undefined;
  return { kind: 'placed', act, place };
}

/** Every fault with a name, for documentation and for tests that walk all of them. Statuses come beside these. */
export const faultNames: readonly string[] = [
  ...replacements,
  ...acts.flatMap((act) => places.map((place) => `${act}-${place}`)),
].filter((name) => readFault(name) !== undefined);

/** A tool to call, by the name it is offered under in the request, and what to send it. */
export interface ScriptedCall {
  readonly tool: string;
  /** The arguments as JSON, or the text for a custom tool. */
  readonly input: string;
}

/** One turn of the model: something to say, or tools to call at once. */
export type Step =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly calls: readonly ScriptedCall[] };

/**
 * Reads `["text", {"tool":"read","input":{…}}, [{…}, {…}]]`: text to say, a call, calls at once. An input that is a
 * string is sent as it is, anything else as its JSON.
 */
export function readSteps(text: string): readonly Step[] | undefined {
  const values = parseJson(text);
  return Array.isArray(values) ? allOf(values.map(readStep)) : undefined;
}

function readStep(value: unknown): Step | undefined {
  if (typeof value === 'string') return { kind: 'say', text: value };
  const calls = allOf((Array.isArray(value) ? value : [value]).map(readCall));
  return calls === undefined || calls.length === 0 ? undefined : { kind: 'call', calls };
}

function readCall(value: unknown): ScriptedCall | undefined {
  if (!isRecord(value)) return undefined;
  const tool = stringOf(value['tool']);
  const input = value['input'];
  if (tool === null || input === undefined) return undefined;
  return { tool, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

function allOf<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const read = values.filter((value) => value !== undefined);
  return read.length === values.length ? read : undefined;
}
