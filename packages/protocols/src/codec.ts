import type { Fault } from './error.ts';
import type { Dialect, EncodedRequest, ReasoningHabit, RequestInput, StreamFraming } from './request.ts';
import type { Result } from './result.ts';
import type { ReasoningEffort, Surface, Turn } from './turn.ts';
import type { TurnAnswer, TurnEvent } from './turn-event.ts';
import type { WireRecord } from './wire-values.ts';

/**
 * One protocol to and from the canonical form, on both sides: as a caller speaks it (`readTurn`, `writeAnswer`,
 * `openWriter`) and as an upstream does (`writeTurn`, `readAnswer`, `openReader`). Money is not read here: the protocol's
 * meter reads the upstream's own bytes in both lanes.
 */
export interface Codec {
  readonly surface: Surface;
  /** The caller's request. A fault where it cannot be understood well enough to be said in other words. */
  readTurn(input: RequestInput): Result<Turn, Fault>;
  /**
   * The same request for an upstream of this protocol. A fault (`invalid_request`, with the caller's own spelling in
   * `param`) where the answer would not be what was asked for; everything else it does not carry is a loss.
   */
  writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault>;
  /** The weight of what `writeTurn` would lose, from what the codec declares: it tells the protocols of one target apart. */
  weighLosses(turn: Turn, target: TranslationTarget): number;
  thoughtWords(target: TranslationTarget): ThoughtWords;
  /** Kinds of media this upstream takes by URL are fetched for it when not listed here. */
  readonly mediaByUrl: readonly ('image' | 'audio' | 'file')[];
  /** An upstream's whole JSON answer that its `Protocol.readAnswer` has found to be one. */
  readAnswer(body: Uint8Array, target: ReaderContext): TurnAnswer;
  openReader(context: ReaderContext): EventReader;
  /** An answer says again which tools and settings its request had. */
  readonly repeatsRequest: boolean;
  /** The whole answer for the caller, JSON. */
  writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array;
  openWriter(context: WriterContext): EventWriter;
  /** Several answers to one request; null for a protocol that has no word for them. */
  readonly choices: ChoicesCodec | null;
  openPlace(): StreamPlace;
}

/** The streams of a protocol that gives several answers to one request. */
export interface ChoicesCodec {
  openReader(context: ReaderContext, choices: number): ChoicesReader;
  /** A writer for each; they share the frames of one stream. */
  openWriters(context: WriterContext, choices: number): readonly EventWriter[];
}

/** Reads frames that carry parts of several answers: the events of each, by its index. */
export interface ChoicesReader {
  read(frame: Uint8Array): readonly (readonly TurnEvent[])[];
  end(): readonly (readonly TurnEvent[])[];
}

export interface TranslationTarget {
  readonly upstreamModel: string;
  /** The provider's path for the protocol, placeholders included. */
  readonly path: string;
  readonly dialect: Dialect;
  /** A short opaque word for this target: sealed state that bears it came from here and may go back. */
  readonly origin: string;
  /** The most the model can write, for protocols that insist on a limit. Tokens; null when not known. */
  readonly maxOutputTokens: number | null;
  /** Prompt and answer together. Tokens; null or left out when not known. */
  readonly contextWindow?: number | null;
  readonly reasoning: ReasoningHabit;
  /** The model as it is known; left out where nothing is. */
  readonly model?: AskedModel;
}

/** A model as far as requests depend on what it is. What is null or left out is not known, and nothing is done about it. */
export interface AskedModel {
  readonly reasoning: {
    /** `always` cannot be switched off. */
    readonly mode: 'none' | 'optional' | 'always' | 'unknown';
    /** The words it takes; empty where it takes none. */
    readonly efforts: readonly ReasoningEffort[] | null;
    /** The effort of a request that asks for none. */
    readonly defaultEffort: ReasoningEffort | null;
    readonly budget: TokenRange | null;
  };
  /** True where it is taken, false where it is refused, `without-thought` where that depends on whether the model thinks. */
  readonly parameters: Readonly<Record<string, boolean | 'without-thought' | undefined>>;
  /** The kinds of content it reads: `text`, `image`, `audio` and others. */
  readonly inputModalities: readonly string[] | null;
}

export interface TokenRange {
  readonly min: number;
  readonly max: number;
}

/** How a target is told how much to think, as far as its protocol and its dialect decide that. */
export interface ThoughtWords {
  /** The words that the protocol has. */
  readonly vocabulary: readonly ReasoningEffort[];
  /** The ones of them that servers take of models whose own are not known. */
  readonly efforts: readonly ReasoningEffort[];
  /** Thought can be switched on and off whatever words the model takes. */
  readonly isSwitched: boolean;
  /** A model that need not think is told so by the word `none`, whatever words its record has. */
  readonly isOffByNone: boolean;
  /** The tokens it may be told; null where it is told in words. */
  readonly budget: TokenRange | null;
  /** The budget of who asks for thought and not for how much; null where that need not be said. */
  readonly usualBudget: number | null;
}

export interface WrittenTurn {
  readonly request: EncodedRequest;
  readonly losses: readonly Loss[];
  /** The caller's names of tools by the ones that were sent; empty when all are the same. */
  readonly names: ToolNames;
  /** The tool whose arguments are the answer, where a schema had to go by one; null or left out for most. */
  readonly answerTool?: AnswerTool | null;
  /** Answers asked for. */
  readonly choices: number;
}

/** A tool of ours: its arguments are what the caller gets as the text of the answer. */
export interface AnswerTool {
  readonly name: string;
  /** The answer is their one member, since it is no object. */
  readonly isWrapped: boolean;
}

/** A tool as the caller names it. */
export interface ToolName {
  readonly name: string;
  readonly namespace: string | null;
  readonly form: 'function' | 'custom';
}

/** The tools that upstream names stand for, where they are not the caller's names. */
export type ToolNames = ReadonlyMap<string, ToolName>;

/** Everything that reading an upstream's answer needs to know. */
export interface ReaderContext {
  readonly origin: string;
  readonly dialect: Dialect;
  readonly names: ToolNames;
  /** 32 hexadecimal digits; ids the upstream does not give are made of it. */
  readonly traceId: string;
  /** Answers asked for, of which whole ones are read; 1 if left out. */
  readonly choices?: number;
}

/** Everything that writing an answer needs to know. */
export interface WriterContext {
  /** The request that is answered: some protocols repeat parts of it. */
  readonly turn: Turn;
  readonly traceId: string;
  /** Seconds since 1970. */
  readonly createdS: number;
  /** The caller asked to see usage in the stream. */
  readonly wantsUsageFrame: boolean;
  readonly framing: StreamFraming;
  /** An estimate of the input, for as long as the upstream has not counted it; tokens. */
  readonly inputTokensEstimate: number;
}

/** Reads the frames of one upstream stream. Errors and pings are none of its business: the protocol's `StreamReader` sees them first. */
export interface EventReader {
  /** Takes one whole frame. */
  read(frame: Uint8Array): readonly TurnEvent[];
  /**
   * Takes a frame that differs from the last one in nothing but this text, where that became one delta of a text: this one becomes
   * the delta of this text. False when it has to be read all the same. Absent where every frame has to be.
   */
  readText?(text: string): boolean;
  /** The stream is whole: what was still held back. */
  end(): readonly TurnEvent[];
}

/**
 * A stream that was relayed as it came, by what it has told its caller of itself: enough for a writer of ours to go on where it broke
 * off, within the text that is open.
 */
export interface StreamPlace {
  /** Takes a frame that the caller gets. */
  note(frame: Uint8Array): void;
  /** Writes on from here: only `text` is open, or a block of it. Null where the frames have not said enough. */
  goOn(context: WriterContext): EventWriter | null;
}

/** Writes one stream for a caller. */
export interface EventWriter {
  /** The frames an event becomes; the empty string for none. `finish` is only noted. */
  write(event: TurnEvent): string;
  /**
   * The frames that close the answer, terminal one included; sent once the entry is durable. `ours`: members that are no part of
   * the protocol, for the last frame that has any. `isLast`: false where other answers of the same stream end behind it.
   */
  end(ours?: WireRecord, isLast?: boolean): string;
}

/**
 * Something of the request that a target of another protocol does not get, told to the caller in `x-headgate-losses` and
 * kept on the entry. Never silent: an encoder returns what it left out.
 */
export interface Loss {
  /** The member as the caller spells it, without positions: `seed`, `messages[].content[].image_url.detail`. */
  readonly field: string;
  /** `dropped`: it is left out · `changed`: something near it is sent, which `note` names. */
  readonly action: 'dropped' | 'changed';
  /** For the log and the docs, in a few words: `clamped to 1`. Null when there is nothing to add. */
  readonly note: string | null;
}

export function dropped(field: string, note: string | null = null): Loss {
  return { field, action: 'dropped', note };
}

export function changed(field: string, note: string): Loss {
  return { field, action: 'changed', note };
}
