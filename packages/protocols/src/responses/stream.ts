import { readStatedCost, serviceOf } from '../billing.ts';
import type { TextSpan } from '../bytes/json-text.ts';
import { KeyNames } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import { dataStart } from '../bytes/sse.ts';
import { completionsError } from '../envelope.ts';
import type { Fault } from '../error.ts';
import type { AnswerReading, FrameRole, UpstreamRefusal } from '../protocol.ts';
import { refusalOf } from '../refusal.ts';
import type { Dialect } from '../request.ts';
import { FrameReader, notAnAnswer, RunningReading } from '../stream-reader.ts';
import { noTerms, type Usage, type UsageTerms } from '../usage.ts';
import { isRecord } from '../wire-values.ts';
import { FeeItems, promptOf } from './fees.ts';
import type { OutputCount } from './meter.ts';
import { readUsage } from './meter.ts';
import { EventWalk, ResponseWalk } from './walk.ts';
import { blankResponse } from './wire.ts';

const encoder = new TextEncoder();
const deltaNames = new KeyNames(['delta', 'sequence_number', 'obfuscation']);

export class ResponsesStreamReader extends FrameReader {
  readonly reading: ResponseReading;
  #event = new EventWalk(new Uint8Array(0), 0);
  /** The item at hand has said something: what follows only repeats it. */
  #itemHasOutput = false;
  /** The end of the answer under the name that clients wait for; null before it came under another one. */
  #unnamedEnd: Uint8Array | null = null;

  constructor(dialect: Dialect) {
    super();
    this.reading = new ResponseReading(dialect);
  }

  protected readOther(frame: Uint8Array): FrameRole {
    const at = namedDataStart(frame);
    if (at === -1 || !this.#walk(frame, at).isWhole || !this.#event.hasType) return this.readUnusual(frame);
    const role = this.#takeEvent();
    if (role === 'content' && this.#event.isDelta) this.#learn(frame, at);
    return role;
  }

  protected override takePlain(bytes: Uint8Array, end: number): void {
    super.takePlain(bytes, end);
    this.#itemHasOutput = true;
  }

  /** Beside the text of a delta, its number and its padding differ. */
  #learn(frame: Uint8Array, at: number): void {
    const reader = new JsonReader(frame, at);
    const others: TextSpan[] = [];
    let text: TextSpan | null = null;
    reader.enterObject();
    while (reader.nextMember()) {
      const name = deltaNames.find(frame, reader.keyStart, reader.keyEnd);
      const span = { start: reader.at, end: reader.skip() };
      if (name === 'delta' && frame[span.start] === 0x22) text = span;
      else if (name === 'sequence_number' || name === 'obfuscation') others.push(span);
    }
    if (text !== null) this.plain.learn(frame, text, others);
  }

  /** Items that are done are no end of the answer: another may follow. It is whole when the response itself has said so. */
  isWholeWithoutTerminal(): boolean {
    return this.#unnamedEnd !== null && this.refusal === null;
  }

  override missingEnd(): Uint8Array {
    return this.#unnamedEnd ?? super.missingEnd();
  }

  protected readData(data: string, name: string | null, frame: Uint8Array): FrameRole {
    // Some servers send `[DONE]` after the end.
    if (data === '' || data === '[DONE]' || name === 'ping') return this.liveness(frame, data);
    const event = this.#walk(encoder.encode(data), 0);
    if (!event.isWhole) return this.failWith(data);
    if (!event.hasType && name !== null) event.nameType(name);
    return event.hasType ? this.#takeEvent() : this.fail(refusalInEvent(event));
  }

  #walk(bytes: Uint8Array, at: number): EventWalk {
    this.#event = new EventWalk(bytes, at);
    return this.#event;
  }

  #takeEvent(): FrameRole {
    const event = this.#event;
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.reading.open(event.response);
        return 'preamble';
      case 'response.output_item.added':
        this.#itemHasOutput = false;
        return this.#takeOutput(event.output.hasText || event.output.hasActs);
      case 'response.output_item.done':
        return this.#takeItemEnd();
      case 'response.completed':
      case 'response.incomplete':
        return this.#takeEnd();
      case 'response.failed':
        return this.fail(refusalInResponse(event.response));
      case 'error':
        return this.fail(refusalInEvent(event));
      case null:
        return this.#takeOther();
    }
  }

  /** Deltas and pictures; texts that end, parts and the progress of hosted tools, which bring nothing new. */
  #takeOther(): FrameRole {
    const { output, isDelta, isImage, hasError, response } = this.#event;
    if (hasError) return this.fail(refusalInEvent(this.#event));
    if (response !== null && isEnded(response)) return this.#takeUnnamedEnd(response);
    if (isDelta) return this.#takeOutput(output.hasText);
    return this.#takeOutput(isImage || (output.hasText && !this.#itemHasOutput));
  }

  /** The seal of an item is known at its end; the rest is new only where the server sends no deltas. */
  #takeItemEnd(): FrameRole {
    const { output } = this.#event;
    this.reading.know(output);
    if (output.feeItems.length > 0) for (const item of this.#event.feeItems) this.reading.takeFeeItem(item);
    const isFilled = output.hasText || output.hasActs || output.hasSeals;
    if (isFilled && this.#itemHasOutput) return 'content';
    return this.#takeOutput(isFilled);
  }

  #takeOutput(isFilled: boolean): FrameRole {
    if (!isFilled) return 'preamble';
    this.#itemHasOutput = true;
    this.reading.take(this.#event.output);
    return 'content';
  }

  /** Some servers tell the whole response in an event of another name, `response.done`, and end with that. */
  #takeUnnamedEnd(response: ResponseWalk): FrameRole {
    const { hasOutput } = this.reading;
    this.reading.close(response);
    const members = `"sequence_number":0,"response":${response.text}`;
    const type = `response.${response.status}`;
    this.#unnamedEnd = encoder.encode(`event: ${type}\ndata: {"type":"${type}",${members}}\n\n`);
    return this.reading.hasOutput && !hasOutput ? 'content' : 'finish';
  }

  #takeEnd(): FrameRole {
    const { response } = this.#event;
    if (response === null) return this.fail(refusalInEvent(this.#event));
    this.reading.close(response);
    return 'terminal';
  }
}

/** A response that has no more to say. */
function isEnded({ status }: ResponseWalk): boolean {
  return status === 'completed' || status === 'incomplete';
}

const lineFeed = 0x0a;
const eventField = [0x65, 0x76, 0x65, 0x6e, 0x74, 0x3a];

/** The same where the event's name may stand before its data. */
function namedDataStart(frame: Uint8Array): number {
  const isNamed = eventField.every((byte, offset) => frame[offset] === byte);
  return dataStart(frame, isNamed ? frame.indexOf(lineFeed) + 1 : 0);
}

/** The deltas and items of a stream, then the whole response at its end, whose words do not tell why it stopped. */
class ResponseReading extends RunningReading {
  usage: Usage | null = null;
  terms: UsageTerms = noTerms;
  readonly #dialect: Dialect;
  readonly #feeItems: unknown[] = [];

  constructor(dialect: Dialect) {
    super();
    this.#dialect = dialect;
  }

  open(response: ResponseWalk | null): void {
    this.modelServed ??= response?.model ?? null;
    this.answerId ??= response?.id ?? null;
  }

  /** Output that has not been seen before. */
  take(output: OutputCount): void {
    this.hasOutput = true;
    this.outputBytes += output.bytes;
    this.know(output);
  }

  /** Output that may have been seen before, for what it says of the whole. */
  know(output: OutputCount): void {
    this.hasCalls ||= output.hasCalls;
    this.hasRefusal ||= output.hasRefusal;
  }

  /** The whole response: its items repeat what a stream has brought, unless it brought nothing. */
  close(response: ResponseWalk): void {
    const { output } = response;
    this.open(response);
    if (!this.hasOutput && (output.hasText || output.hasActs || output.hasSeals)) this.take(output);
    else this.know(output);
    this.finishReasonRaw = response.finishReason;
    this.#closeUsage(response.usage, response.feeItems);
    this.takeTerm('service', serviceOf(response.service));
  }

  /** Takes an item as it ends: some servers leave them out of the whole response. */
  takeFeeItem(item: unknown): void {
    this.#feeItems.push(item);
  }

  #closeUsage(wire: unknown, ofWhole: readonly unknown[]): void {
    const usage = readUsage(wire);
    this.statedCostUsd = readStatedCost(wire, this.#dialect.statedCost);
    const items = ofWhole.length > 0 ? ofWhole : this.#feeItems;
    if (usage === null || items.length === 0) return this.takeUsage(usage);
    const fees = new FeeItems();
    for (const item of items) fees.take(item);
    this.takeUsage(fees.addTo(usage));
    this.terms = { ...this.terms, promptTokens: promptOf(wire, usage, items.length) };
  }
}

/** The error of a response that failed, which may keep silent about why. */
function refusalInResponse(response: ResponseWalk | null): UpstreamRefusal {
  return refusalOf({ error: response?.error ?? silentFailure }, '');
}

const silentFailure = { code: 'server_error', message: 'the response failed without a reason' };

/** The error of an event in either spelling: under `error`, or in the event itself, whose type is not the error's. */
function refusalInEvent(event: EventWalk): UpstreamRefusal {
  if (event.hasError) return refusalOf({ error: event.error }, 'an error without words');
  const { value } = event;
  const words = isRecord(value) ? { ...value, type: null } : value;
  return refusalOf(words, JSON.stringify(value) ?? '');
}

/** The refusal of an earlier answer, or of a conversation, that is not there. */
export function unknownId(id: string): UpstreamRefusal {
  const common = { kind: 'answer-missing', type: 'invalid_request_error' } as const;
  if (id.startsWith('conv_')) {
    const message = `Conversation with id '${id}' not found.`;
    return { ...common, status: 404, message, code: null, param: null };
  }
  return {
    ...common,
    status: 400,
    message: `Previous response with id '${id}' not found.`,
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  };
}

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, dialect: Dialect): AnswerReading {
  const reader = new JsonReader(body);
  const response = new ResponseWalk(reader);
  if (!reader.isAtEnd() || !response.hasOutputList) return notAnAnswer(body);
  if (response.status === 'failed') return { kind: 'refusal', refusal: refusalInResponse(response) };
  const reading = new ResponseReading(dialect);
  reading.close(response);
  return { kind: 'answer', reading };
}

/**
 * An error as the end of a stream, in both places a client looks: an `error` event, which has the error's members twice
 * (in itself, as the published types have it, and under `error`, as servers send it), and then the response as failed.
 * How many events went before is not known here, and no client compares: the numbers only have to be there.
 */
export function encodeStreamError(fault: Fault, traceId: string): Uint8Array {
  const error = completionsError(fault, traceId);
  const { code, message, param } = error;
  const id = `resp_${traceId}`;
  const failed = { status: 'failed', error: { code: publishedCode(fault), message } };
  const response = { ...blankResponse, id, reasoning: null, ...failed };
  return encoder.encode(
    encodeEvent('error', { sequence_number: 0, code, message, param, error }) +
      encodeEvent('response.failed', { sequence_number: 1, response }),
  );
}

/** A response's own error has a closed list of codes. */
function publishedCode({ status }: Fault): string {
  return status === 429 ? 'rate_limit_exceeded' : 'server_error';
}

function encodeEvent(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
