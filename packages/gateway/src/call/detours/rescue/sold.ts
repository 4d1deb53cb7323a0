import {
  addUsage,
  type EventWriter,
  noUsage,
  type Reading,
  type Turn,
  totalInput,
  type Usage,
} from '@headgate/protocols';
import { type Metered, meter } from '../../../money/meter.ts';
import type { Outcome } from '../../../route/outcomes.ts';
import type { AttemptRecord, Sold } from '../../outcomes.ts';
import type { Call } from '../../request.ts';
import { type Continuation, wordsBeside } from './continuation.ts';

/** A rescue under way. */
export interface Begun {
  readonly cut: AttemptRecord;
  /** All that the caller has of the answer. */
  readonly said: string;
  /** Goes on in the caller's stream. */
  readonly writer: EventWriter;
  /** The use of the answer that broke off. */
  readonly first: Metered;
  /** Left of what the caller allows; null where it allows any number. */
  readonly outputTokensMax: number | null;
  readonly settings: Turn['settings'];
  /** The latest attempt that has begun to answer has said this. */
  text: Continuation | null;
}

/** Bytes of text per token, as where an upstream reports no usage. */
const bytesPerToken = 4;

/**
 * The answer as the caller got it, and how the call ended. An attempt to go on of which nothing reached the caller decides nothing: then the
 * answer is the one that broke off, save that a caller who left meanwhile has left it.
 */
export function soldOf(call: Call, begun: Begun): Sold {
  const { attempts } = call;
  const { cut, first } = begun;
  const last = attempts.at(-1) ?? cut;
  const hasGoneOn = last !== cut && isHeard(last.outcome);
  const record = hasGoneOn
    ? asOne(cut, last)
    : withOutcome(cut, hasLeft(call, last) ? left(cut) : cut.outcome);
  const second = hasGoneOn ? meterOf(call, last.outcome) : null;
  const counted = readingOf(last.outcome)?.usage ?? null;
  return { record, metered: second === null ? first : summedUsage(call, begun, second, counted) };
}

/** Something of it has reached the caller, or its end has. */
function isHeard(outcome: Outcome): boolean {
  return outcome.kind === 'answered' || ('committed' in outcome && outcome.committed);
}

function hasLeft({ reply }: Call, { outcome }: AttemptRecord): boolean {
  return outcome.kind === 'caller-gone' || reply.gone;
}

function left({ outcome }: AttemptRecord): Outcome {
  return { kind: 'caller-gone', committed: true, reading: readingOf(outcome) };
}

/** The later attempt as if it had begun with the earlier one. */
function asOne(cut: AttemptRecord, last: AttemptRecord): AttemptRecord {
  const reading = readingOf(last.outcome);
  const before = readingOf(cut.outcome);
  if (reading === null) return { ...plain(last), startedAt: cut.startedAt, ttftMs: cut.ttftMs };
  const { usage, finishReason, finishReasonRaw, outputBytes, usageAtOutputBytes } = reading;
  const terms = before?.terms === undefined ? {} : { terms: before.terms };
  const whole: Reading = {
    usage,
    finishReason,
    finishReasonRaw,
    outputBytes,
    usageAtOutputBytes,
    ...terms,
    hasOutput: true,
    modelServed: before?.modelServed ?? reading.modelServed,
  };
  const outcome = { ...last.outcome, reading: whole } as Outcome; // The same one, with a fuller reading.
  return { ...withOutcome(last, outcome), startedAt: cut.startedAt, ttftMs: cut.ttftMs };
}

function withOutcome(record: AttemptRecord, outcome: Outcome): AttemptRecord {
  return { ...plain(record), outcome };
}

/** The members of an attempt, which has most of them by name only. */
function plain(record: AttemptRecord): AttemptRecord {
  const { target, outcome, startedAt, upstreamRequestId, httpStatus, ttftMs, durationMs } = record;
  const { lane, edits, losses, isSending } = record;
  const said = { upstreamRequestId, httpStatus, ttftMs, durationMs, lane, edits, losses, isSending };
  return { target, outcome, startedAt, ...said };
}

function readingOf(outcome: Outcome): Reading | null {
  return 'reading' in outcome ? outcome.reading : null;
}

function meterOf({ request }: Call, outcome: Outcome): Metered {
  const { inputTokensEstimate, maxOutputTokens } = request.facts;
  return meter(readingOf(outcome), { inputTokensEstimate, outputTokensMax: maxOutputTokens });
}

/**
 * The input once, and of the output what was delivered: all of the first answer, and of the second what was new. What the second
 * has thought, repeated or read again is the operator's expense. Never more output than the caller allows. `counted`: by the second's
 * upstream.
 */
export function summedUsage(
  call: Call,
  { cut, first, said, text }: Begun,
  second: Metered,
  counted: Usage | null,
): Metered {
  const { maxOutputTokens } = call.request.facts;
  const isCounted = hasInput(readingOf(cut.outcome)?.usage ?? null);
  // An estimate is of the caller's own request, and needs nothing taken from it.
  const isOthers = !isCounted && hasInput(counted);
  const input = isOthers
    ? withoutAppended(second.usage, wordsBeside(said, text?.way ?? 'given'))
    : first.usage;
  const { produced, delivered } = text ?? { produced: 0, delivered: 0 };
  const spoken = Math.max(0, second.usage.output - second.usage.outputReasoning);
  const added = produced === 0 ? 0 : Math.ceil((spoken * delivered) / produced);
  const output = Math.min(first.usage.output + added, maxOutputTokens ?? Number.POSITIVE_INFINITY);
  const { outputReasoning } = first.usage;
  const isExact = first.source === 'upstream' && second.source === 'upstream' && delivered === produced;
  return {
    usage: { ...addUsage(inputOf(input), feesOf(first.usage, second.usage)), output, outputReasoning },
    source: isExact && isCounted ? 'upstream' : 'estimated',
  };
}

function hasInput(usage: Usage | null): boolean {
  return usage !== null && totalInput(usage) > 0;
}

/** The input of the second request as it would be without what it has beside the caller's words, which is always new to it. */
function withoutAppended(usage: Usage, words: string): Usage {
  const appended = Math.ceil(Buffer.byteLength(words) / bytesPerToken);
  return { ...usage, inputFresh: Math.max(0, usage.inputFresh - appended) };
}

function inputOf(usage: Usage): Usage {
  const { inputFresh, inputCacheRead, inputCacheWrite5m, inputCacheWrite1h } = usage;
  const { inputAudio, inputImage, inputCacheReadAudio } = usage;
  const counted = { inputFresh, inputCacheRead, inputCacheWrite5m, inputCacheWrite1h };
  return { ...noUsage, ...counted, inputAudio, inputImage, inputCacheReadAudio };
}

/** Fees are neither input nor words: they are for both. */
function feesOf(first: Usage, second: Usage): Usage {
  const both = addUsage(first, second);
  const none = inputOf(noUsage);
  const { webSearches, fileSearches, codeSessions, groundings, citation, pages } = both;
  return { ...none, webSearches, fileSearches, codeSessions, groundings, citation, pages };
}
