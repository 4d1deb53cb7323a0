import { serviceOf } from '../billing.ts';
import { decodeJson, KeyNames } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import { type AnswerReading, countReading, type UpstreamRefusal } from '../protocol.ts';
import { answeredStatus, parseError, readErrorValue, refusalOf } from '../refusal.ts';
import type { Work } from '../request.ts';
import { notAnAnswer, RunningReading } from '../stream-reader.ts';
import { type FinishReason, readFinishReason } from '../turn-event.ts';
import { noTerms, noUsage, Remainder, type Usage, type UsageTerms } from '../usage.ts';
import { isRecord, listOf, recordOf, tokenCount, type WireRecord } from '../wire-values.ts';
import { ChunkWalk } from './walk.ts';
import { finishReasons } from './wire.ts';

/** A stream takes a chunk at a time; a JSON answer is one. */
export class NativeReading extends RunningReading {
  /** The usage that has not been read yet; null when there is none. */
  #usageBytes: Uint8Array | null = null;
  #usage: Usage | null = null;
  #terms: UsageTerms = noTerms;
  #grounding: Grounding | null = null;
  #countsOutput = false;
  #isBlocked = false;

  take(chunk: ChunkWalk): void {
    this.finishReasonRaw = chunk.finishReason ?? this.finishReasonRaw;
    this.modelServed ??= chunk.model;
    this.hasOutput ||= chunk.hasOutput;
    this.outputBytes += chunk.outputBytes;
    this.hasCalls ||= chunk.hasCalls;
    this.#takeUsageOf(chunk);
    if (chunk.hasGrounding) this.#takeGrounding(readGrounding(chunk.grounding));
    if (!chunk.hasCandidates) this.#takeFeedback(chunk.promptFeedback);
  }

  /** Read when it is asked for: it is on every chunk, and only the last one counts. */
  get usage(): Usage | null {
    this.#readCounts();
    return this.#grounding === null || this.#usage === null
      ? this.#usage
      : { ...this.#usage, ...this.#grounding };
  }

  set usage(usage: Usage | null) {
    this.#usage = usage;
  }

  #readCounts(): void {
    if (this.#usageBytes === null) return;
    const wire = recordOf(decodeJson(this.#usageBytes, 0, this.#usageBytes.length));
    this.#usageBytes = null;
    this.#usage = readUsage(wire);
    this.#terms = readTerms(wire);
  }

  /** Chunks tell it whole, or a piece each: the most that one of them counts has been searched. */
  #takeGrounding({ webSearches, groundings }: Grounding): void {
    this.#grounding = {
      webSearches: Math.max(webSearches, this.#grounding?.webSearches ?? 0),
      groundings: Math.max(groundings, this.#grounding?.groundings ?? 0),
    };
  }

  /** Read with the counts, which it stands among. */
  get terms(): UsageTerms {
    this.#readCounts();
    return this.#terms;
  }

  set terms(terms: UsageTerms) {
    this.#terms = terms;
  }

  protected override readonly readReason = (raw: string): FinishReason =>
    this.#isBlocked ? 'content-filter' : (finishReasons.get(raw) ?? readFinishReason(raw));

  /**
   * It is cumulative: the last one counts, and covers the chunk it came with if it counts output. The first ones of a stream
   * count the prompt alone. A count that is missing at the end, where thoughts are counted, is zero.
   */
  #takeUsageOf(chunk: ChunkWalk): void {
    const isLast = chunk.finishedCandidates.length > 0;
    const countsOutput = chunk.countsCandidates || (isLast && chunk.countsThoughts);
    if (chunk.hasCounts) this.takeCounts(chunk.usageBytes, countsOutput);
  }

  /** `usage`: the object as it is on the wire, in bytes that are kept. */
  takeCounts(usage: Uint8Array, countsOutput: boolean): void {
    if (this.#countsOutput && !countsOutput) return;
    this.#usageBytes = usage;
    this.#countsOutput = countsOutput;
    if (countsOutput) this.usageAtOutputBytes = this.outputBytes;
  }

  /** A prompt that is blocked has no candidates: why, is in their place. */
  #takeFeedback(feedback: unknown): void {
    const reason = recordOf(feedback)['blockReason'];
    if (typeof reason !== 'string' || reason === '') return;
    this.#isBlocked = true;
    this.finishReasonRaw = reason;
  }
}

/** The error a chunk or an answer is in the place of content; null when it is none. */
export function refusalIn(chunk: ChunkWalk): UpstreamRefusal | null {
  const { error } = chunk;
  if (error !== undefined) return refusalOf({ error }, 'an error without words');
  const isAnswer = chunk.hasCandidates || chunk.hasUsage || chunk.promptFeedback !== undefined;
  return isAnswer ? null : readErrorValue(answeredStatus, chunk.value);
}

const decoder = new TextDecoder();
const embeddingNames = new KeyNames(['embedding', 'embeddings', 'usageMetadata']);

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, work: Work): AnswerReading {
  switch (work) {
    case 'answer':
      return readGenerated(body);
    case 'count':
      return readCount(body);
    case 'embed':
      return readEmbedded(body);
  }
}

function readGenerated(body: Uint8Array): AnswerReading {
  const walk = new ChunkWalk(body, 0);
  if (!walk.isWhole) return notAnAnswer(body);
  const refusal = refusalIn(walk);
  if (refusal !== null) return { kind: 'refusal', refusal };
  const isAnswer = walk.hasCandidates || walk.promptFeedback !== undefined || walk.hasUsage;
  if (!isAnswer) return notAnAnswer(body);
  const reading = new NativeReading();
  reading.take(walk);
  return { kind: 'answer', reading };
}

/** No tokens at all are a count that is left out. */
function readCount(body: Uint8Array): AnswerReading {
  const text = decoder.decode(body);
  const value = parseError(text);
  const { totalTokens = 0, error } = recordOf(value);
  const isCount = value !== undefined && error === undefined && tokenCount(totalTokens) !== null;
  return isCount ? countReading : { kind: 'refusal', refusal: refusalOf(value, text) };
}

/** Vectors are many numbers and are not looked at. Not every upstream counts what went into them. */
function readEmbedded(body: Uint8Array): AnswerReading {
  const reader = new JsonReader(body);
  let isEmbedded = false;
  let usage: unknown;
  if (!reader.enterObject()) return notAnAnswer(body);
  while (reader.nextMember()) {
    const name = embeddingNames.find(body, reader.keyStart, reader.keyEnd);
    const start = reader.at;
    const end = reader.skip();
    if (name === 'usageMetadata') usage = decodeJson(body, start, end);
    else if (name !== null) isEmbedded = true;
  }
  if (!reader.isAtEnd() || !isEmbedded) return notAnAnswer(body);
  return { kind: 'answer', reading: embeddedReading(usage) };
}

function embeddedReading(wire: unknown) {
  return {
    usage: readUsage(wire),
    finishReason: 'stop' as const,
    finishReasonRaw: null,
    modelServed: null,
    hasOutput: true,
    outputBytes: 0,
    usageAtOutputBytes: 0,
  };
}

/**
 * Usage in parts that never overlap, from the wire's `usageMetadata`. Its prompt includes what the cache read and excludes
 * what tools put in; its candidates exclude thoughts; a count that is missing is zero. Null when there is no count in it.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const prompt = tokenCount(wire['promptTokenCount']);
  const total = tokenCount(wire['totalTokenCount']);
  const counted = tokenCount(wire['candidatesTokenCount']);
  if (prompt === null && total === null && counted === null) return null;
  const toolUse = tokenCount(wire['toolUsePromptTokenCount']) ?? 0;
  const thoughts = tokenCount(wire['thoughtsTokenCount']) ?? 0;
  const rest = Math.max(0, (total ?? 0) - (prompt ?? 0) - toolUse - thoughts);
  return {
    ...noUsage,
    ...readInput(wire, (prompt ?? 0) + toolUse),
    ...readOutput(wire, counted ?? rest, thoughts),
  };
}

/** The tier, in the words of either of the vendor's services; the prompt is told apart from what its tools put in. */
function readTerms(wire: WireRecord): UsageTerms {
  const service = serviceOf(wire['serviceTier']) ?? serviceOf(wire['trafficType']);
  const hasLoops = (tokenCount(wire['toolUsePromptTokenCount']) ?? 0) > 0;
  const promptTokens = hasLoops ? tokenCount(wire['promptTokenCount']) : null;
  return service === null && promptTokens === null ? noTerms : { ...noTerms, service, promptTokens };
}

type Grounding = Pick<Usage, 'webSearches' | 'groundings'>;

/** Searches of the web, and that the answer is grounded on them, or on something else that was looked up. */
function readGrounding(wire: unknown): Grounding {
  const { webSearchQueries, groundingChunks } = recordOf(wire);
  const webSearches = listOf(webSearchQueries).length;
  return { webSearches, groundings: webSearches + listOf(groundingChunks).length > 0 ? 1 : 0 };
}

/** Films and documents are priced as text, and so are they where the cache has read them. */
function readInput(wire: WireRecord, input: number) {
  const fresh = (modality: string): number =>
    ofModality(wire['promptTokensDetails'], modality) +
    ofModality(wire['toolUsePromptTokensDetails'], modality) -
    ofModality(wire['cacheTokensDetails'], modality);
  const rest = new Remainder(input);
  const cache = new Remainder(rest.take(tokenCount(wire['cachedContentTokenCount'])));
  const inputCacheReadAudio = cache.take(ofModality(wire['cacheTokensDetails'], 'AUDIO'));
  const inputAudio = rest.take(Math.max(0, fresh('AUDIO')));
  const inputImage = rest.take(Math.max(0, fresh('IMAGE')));
  return {
    inputFresh: rest.left,
    inputCacheRead: cache.left,
    inputCacheReadAudio,
    inputAudio,
    inputImage,
  };
}

function readOutput(wire: WireRecord, candidates: number, thoughts: number) {
  const rest = new Remainder(candidates);
  const outputAudio = rest.take(ofModality(wire['candidatesTokensDetails'], 'AUDIO'));
  const outputImage = rest.take(ofModality(wire['candidatesTokensDetails'], 'IMAGE'));
  return { output: rest.left + thoughts, outputReasoning: thoughts, outputAudio, outputImage };
}

function ofModality(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isRecord)
    .filter((detail) => detail['modality'] === modality)
    .reduce((sum, detail) => sum + (tokenCount(detail['tokenCount']) ?? 0), 0);
}
