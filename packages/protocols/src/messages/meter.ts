import { meanPrompt, readStatedCost, regionOf, serviceOf } from '../billing.ts';
import { type AnswerReading, countReading } from '../protocol.ts';
import { parseJson } from '../refusal.ts';
import { isBeyondReading } from '../request/elements.ts';
import type { Dialect, Work } from '../request.ts';
import { notAnAnswer, RunningReading } from '../stream-reader.ts';
import {
  addUsage,
  type Iteration,
  noTerms,
  noUsage,
  readFees,
  termWord,
  totalInput,
  type Usage,
  type UsageTerms,
  usualService,
} from '../usage.ts';
import { isRecord, recordOf, tokenCount, type WireRecord } from '../wire-values.ts';
import { emptyBlockTypes, textMembers } from './wire.ts';

const encoder = new TextEncoder();

/** The message a stream opens with, then its blocks and its end. */
export class MessageReading extends RunningReading {
  usage: Usage | null = null;
  terms: UsageTerms = noTerms;
  iterations: readonly Iteration[] | null = null;
  containerId: string | null = null;
  readonly #dialect: Dialect;
  #firstUsage: unknown = null;
  #prompts = 1;
  #isBehindResult = false;
  #isOpen = false;

  constructor(dialect: Dialect) {
    super();
    this.#dialect = dialect;
  }

  /** A second beginning, which some proxies send, begins nothing. */
  open(message: WireRecord): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.modelServed = textOf(message['model']);
    this.answerId = textOf(message['id']);
    this.#takeContainer(message);
    this.#firstUsage = message['usage'];
    this.takeUsage(readUsage(this.#firstUsage));
  }

  /** Takes the beginning of a block, or a whole one. Whether it is more than an opening. */
  takeBlock(block: WireRecord): boolean {
    const isResult = isHostedResult(block['type']);
    // The model goes on from the results of the vendor's own tools with another prompt.
    if (this.#isBehindResult && !isResult) this.#prompts++;
    this.#isBehindResult = isResult;
    const isEmpty = emptyBlockTypes.has(block['type']) && !hasText(block);
    if (isEmpty) return false;
    this.#count(block);
    if (isRecord(block['input'])) this.outputBytes += byteLength(JSON.stringify(block['input']));
    return true;
  }

  /** Says whether there is anything in the delta. */
  takeDelta(delta: WireRecord): boolean {
    const isFilled = Object.entries(delta).some(([name, value]) => name !== 'type' && isContent(value));
    if (isFilled) this.#count(delta);
    return isFilled;
  }

  /** `end`: what a message's delta says, or the message itself. */
  close(end: WireRecord, lastUsage: unknown): void {
    this.finishReasonRaw = textOf(end['stop_reason']) ?? this.finishReasonRaw;
    this.#takeContainer(end);
    if (!isRecord(lastUsage)) return;
    const wire = mergeUsage(this.#firstUsage, lastUsage);
    const usage = readUsage(wire);
    this.takeUsage(usage);
    this.iterations = readIterations(wire);
    this.statedCostUsd = readStatedCost(wire, this.#dialect.statedCost);
    this.#takeTerms(wire, usage);
  }

  #takeTerms(wire: WireRecord, usage: Usage | null): void {
    const tier = serviceOf(wire['service_tier']);
    // The usual tier says nothing of the speed, which is told beside it.
    const isSilent = tier === usualService && typeof wire['speed'] !== 'string';
    this.takeTerm('service', speedOf(wire['speed']) ?? (isSilent ? null : tier));
    this.takeTerm('region', regionOf(wire['inference_geo']));
    if (this.#prompts === 1 || usage === null) return;
    this.terms = { ...this.terms, promptTokens: meanPrompt(totalInput(usage), this.#prompts) };
  }

  #takeContainer({ container }: WireRecord): void {
    this.containerId = textOf(recordOf(container)['id']) ?? this.containerId;
  }

  #count(part: WireRecord): void {
    this.hasOutput = true;
    for (const name of textMembers) this.outputBytes += byteLength(textOf(part[name]) ?? '');
  }
}

/** A whole message in one piece. */
function readMessage(message: WireRecord, dialect: Dialect): MessageReading {
  const reading = new MessageReading(dialect);
  reading.open({ id: message['id'], model: message['model'] });
  const content: readonly unknown[] = Array.isArray(message['content']) ? message['content'] : [];
  for (const block of content) reading.takeBlock(recordOf(block));
  reading.close(message, message['usage']);
  return reading;
}

/** `web_search_tool_result` and its like; a caller's own results are never in an answer. */
function isHostedResult(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('_tool_result');
}

/** The service tier that a speed is priced as; null for the usual one. */
export function speedOf(speed: unknown): string | null {
  return typeof speed === 'string' && speed !== usualService ? termWord(speed) : null;
}

function hasText(block: WireRecord): boolean {
  return [...textMembers, 'signature'].some((name) => textOf(block[name]) !== null);
}

function isContent(value: unknown): boolean {
  return isRecord(value) || textOf(value) !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

const decoder = new TextDecoder();

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, dialect: Dialect, work: Work): AnswerReading {
  if (isBeyondReading(body)) return notAnAnswer(body);
  const value = parseJson(decoder.decode(body));
  if (work === 'count' && isRecord(value) && tokenCount(value['input_tokens']) !== null) return countReading;
  if (work === 'answer' && isRecord(value) && Array.isArray(value['content']))
    return { kind: 'answer', reading: readMessage(value, dialect) };
  return notAnAnswer(body);
}

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Its `input_tokens` excludes what the cache read and
 * wrote; its `output_tokens` includes thinking. Where it lists iterations, as after a compaction, the top level leaves
 * some of them out and their sum is what was used. Null when there is no count in it: then usage was not reported.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const parts = readIterations(wire)?.map(({ usage }) => usage);
  const fees = readFees(wire);
  return parts === undefined ? readParts(wire, fees) : parts.reduce(addUsage, fees);
}

/** The requests that the vendor made for one answer, each with the model it went to where that is named; null for none. */
function readIterations({ iterations }: WireRecord): readonly Iteration[] | null {
  if (!Array.isArray(iterations)) return null;
  const read = iterations.filter(isRecord).flatMap((wire) => {
    const usage = readParts(wire);
    return usage === null ? [] : [{ model: textOf(wire['model']), usage }];
  });
  return read.length === 0 ? null : read;
}

function readParts(wire: WireRecord, fees: Usage = noUsage): Usage | null {
  const input = tokenCount(wire['input_tokens']);
  const output = tokenCount(wire['output_tokens']);
  if (input === null && output === null) return null;
  const thinking = tokenCount(recordOf(wire['output_tokens_details'])['thinking_tokens']) ?? 0;
  return {
    ...fees,
    inputFresh: input ?? 0,
    inputCacheRead: tokenCount(wire['cache_read_input_tokens']) ?? 0,
    ...readCacheWrites(wire),
    output: output ?? 0,
    outputReasoning: Math.min(thinking, output ?? 0),
  };
}

/** Writes that are not said to last an hour last five minutes. The parts never exceed the total, where there is one. */
function readCacheWrites(wire: WireRecord) {
  const split = recordOf(wire['cache_creation']);
  const write5m = tokenCount(split['ephemeral_5m_input_tokens']) ?? 0;
  const write1h = tokenCount(split['ephemeral_1h_input_tokens']) ?? 0;
  const total = tokenCount(wire['cache_creation_input_tokens']) ?? write5m + write1h;
  const inputCacheWrite1h = Math.min(write1h, total);
  return { inputCacheWrite5m: total - inputCacheWrite1h, inputCacheWrite1h };
}

/**
 * The last word of a stream on its usage: what its end says, and what its beginning said where the end is silent. Counts
 * are cumulative, so an end that knows of no input at all (some servers write zeros there) is silent about it.
 */
export function mergeUsage(first: unknown, last: unknown): WireRecord {
  const said = Object.entries(recordOf(last)).filter(([, value]) => value !== null);
  const merged = { ...recordOf(first), ...Object.fromEntries(said) };
  return hasInput(merged) ? merged : { ...merged, ...inputMembers(recordOf(first)) };
}

const inputNames = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
] as const;

function hasInput(wire: WireRecord): boolean {
  return inputNames.some((name) => (tokenCount(wire[name]) ?? 0) > 0);
}

function inputMembers(wire: WireRecord): WireRecord {
  return Object.fromEntries(inputNames.flatMap((name) => (name in wire ? [[name, wire[name]]] : [])));
}
