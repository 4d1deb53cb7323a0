import { decodeString } from './bytes/json-text.ts';
import type {
  Codec,
  EventReader,
  EventWriter,
  Loss,
  TranslationTarget,
  WriterContext,
  WrittenTurn,
} from './codec.ts';
import { type Fault, fault } from './error.ts';
import type { PlainFrame } from './protocol.ts';
import type { EncodedRequest } from './request.ts';
import { fail, type Result, succeed } from './result.ts';
import { AnswerToolReader, answerByTool } from './translate/answer-tool.ts';
import { ChoicesTranslator } from './translate/choices.ts';
import { fitSettings, unreadMedia } from './translate/model-fit.ts';
import { pairCalls } from './translate/turn-order.ts';
import type { Turn } from './turn.ts';

const encoder = new TextEncoder();

/**
 * Messages, blocks of theirs and tools of one request that is translated: each costs some microseconds, and all of them
 * together are one step of the event loop. Ten times what the longest sessions of agents have.
 */
const partsMax = 20_000;

const tooManyParts = fault('invalid_request', {
  message: `The request has more than ${partsMax} messages, parts and tools, which no channel that serves this model now can take; send fewer.`,
  param: 'messages',
});

/** Between whom: the caller's protocol and the upstream's. */
export interface Languages {
  readonly caller: Codec;
  readonly upstream: Codec;
}

/** All that the way back for an answer needs, in data alone: it can be made in another thread. */
export interface AnswerParts {
  readonly target: TranslationTarget;
  readonly written: WrittenTurn;
  readonly context: WriterContext;
}

/** One request for one target of another protocol, and the way back for its answer. */
export class Translation {
  readonly #languages: Languages;
  readonly #target: TranslationTarget;
  readonly #written: WrittenTurn;
  readonly #context: WriterContext;

  constructor(languages: Languages, target: TranslationTarget, written: WrittenTurn, context: WriterContext) {
    this.#languages = languages;
    this.#target = target;
    this.#written = written;
    this.#context = context;
  }

  get request(): EncodedRequest {
    return this.#written.request;
  }

  /** All of it that a translation made in another thread is put together from again. */
  get written(): WrittenTurn {
    return this.#written;
  }

  /** The same for its answer alone: without the request. */
  get forAnswer(): AnswerParts {
    const { request } = this.#written;
    const written = { ...this.#written, request: { ...request, body: [] } };
    return { target: this.#target, written, context: this.#context };
  }

  get losses(): readonly Loss[] {
    return this.#written.losses;
  }

  /** A whole answer, JSON to JSON. */
  whole(body: Uint8Array): Uint8Array {
    const { caller, upstream } = this.#languages;
    const { answerTool = null } = this.#written;
    const answer = upstream.readAnswer(body, this.#readerContext());
    return caller.writeAnswer(answerTool === null ? answer : answerByTool(answer, answerTool), this.#context);
  }

  openStream(): FrameTranslator {
    const { choices } = this.#written;
    const { caller, upstream } = this.#languages;
    if (choices === 1 || caller.choices === null || upstream.choices === null)
      return new StreamTranslator(this.openReader(), this.openWriter());
    const reader = upstream.choices.openReader(this.#readerContext(), choices);
    return new ChoicesTranslator(reader, caller.choices.openWriters(this.#context, choices));
  }

  openReader(): EventReader {
    const { answerTool = null } = this.#written;
    const reader = this.#languages.upstream.openReader(this.#readerContext());
    return answerTool === null ? reader : new AnswerToolReader(reader, answerTool);
  }

  openWriter(): EventWriter {
    return this.#languages.caller.openWriter(this.#context);
  }

  #readerContext() {
    const { origin, dialect } = this.#target;
    const { names, choices } = this.#written;
    return { origin, dialect, names, choices, traceId: this.#context.traceId };
  }
}

/** Writes the request for the target. A fault where this protocol cannot say what was asked for. */
export function translate(
  languages: Languages,
  target: TranslationTarget,
  context: WriterContext,
): Result<Translation, Fault> {
  const { turn } = context;
  if (partsOf(turn) > partsMax) return fail(tooManyParts);
  const unread = unreadMedia(turn, target.model);
  if (unread !== null) return fail(unread);
  const room = withRoom(target, context);
  const { settings, losses } = fitSettings(turn, room, languages.upstream.thoughtWords(room));
  const asked = { ...turn, settings, messages: pairCalls(turn.messages) };
  const written = languages.upstream.writeTurn(asked, room);
  if (!written.ok) return written;
  const all = { ...written.value, losses: [...losses, ...written.value.losses] };
  return succeed(new Translation(languages, target, all, context));
}

/** Room for an answer that is left at least, however long the prompt is estimated to be. Tokens. */
const roomMin = 8_192;

/**
 * The target with as much room as its window leaves beside the prompt, and as the caller has asked for: some upstreams refuse a
 * prompt and a limit that are more than the window together. Estimates are rough, so a quarter more is left to the prompt.
 */
function withRoom(
  target: TranslationTarget,
  { turn, inputTokensEstimate }: WriterContext,
): TranslationTarget {
  const { maxOutputTokens, contextWindow = null } = target;
  if (contextWindow === null) return target;
  const asked = turn.settings.maxOutputTokens;
  const least = Math.min(roomMin, Math.ceil(contextWindow / 2));
  const room = Math.max(contextWindow - Math.ceil(inputTokensEstimate * 1.25), least, asked ?? 0);
  const most = maxOutputTokens ?? (asked === null ? roomMin : Number.POSITIVE_INFINITY);
  return { ...target, maxOutputTokens: Math.min(most, room) };
}

function partsOf({ system, messages, tools }: Turn): number {
  return messages.reduce((sum, { content }) => sum + 1 + content.length, system.length + tools.length);
}

/** A stream on its way from one protocol to another. */
export interface FrameTranslator {
  /** One frame of the upstream's as the caller gets it; often nothing. `plain`: how its `StreamReader` has seen it. */
  frame(frame: Uint8Array, plain?: PlainFrame): Uint8Array;
  /** Closes a stream that is whole. */
  end(): Uint8Array;
}

/** The stream of one answer. */
export class StreamTranslator implements FrameTranslator {
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  /** A frame like the last one becomes a delta of its text. */
  #isRepeatable = false;

  constructor(reader: EventReader, writer: EventWriter) {
    this.#reader = reader;
    this.#writer = writer;
  }

  frame(frame: Uint8Array, plain?: PlainFrame): Uint8Array {
    return encoder.encode(this.text(frame, plain));
  }

  /** The same before it is encoded: that costs as much for one frame as for many put together. */
  text(frame: Uint8Array, plain?: PlainFrame): string {
    return this.#repeat(frame, plain) ?? this.#read(frame, plain);
  }

  /** Nearly all frames are like the one before, but for their text; null for any other. */
  #repeat(frame: Uint8Array, plain: PlainFrame | undefined): string | null {
    if (!this.#isRepeatable || plain?.last !== 'same') return null;
    const text = decodeString(frame, plain.textStart, plain.textEnd);
    if (text === null || this.#reader.readText?.(text) !== true) return null;
    return this.#writer.write({ kind: 'delta', delta: { kind: 'text', text } });
  }

  #read(frame: Uint8Array, plain: PlainFrame | undefined): string {
    const events = this.#reader.read(frame);
    const [first] = events;
    const isOneText = events.length === 1 && first?.kind === 'delta' && first.delta.kind === 'text';
    this.#isRepeatable = isOneText && plain !== undefined && plain.last !== 'other';
    return events.reduce((text, event) => text + this.#writer.write(event), '');
  }

  end(): Uint8Array {
    let text = '';
    for (const event of this.#reader.end()) text += this.#writer.write(event);
    return encoder.encode(text + this.#writer.end());
  }
}
