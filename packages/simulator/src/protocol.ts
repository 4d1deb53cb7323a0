import type { Answer } from './answer/answer.ts';
import type { Ask } from './answer/ask.ts';
import type { Command } from './command/command.ts';
import type { JsonRecord } from './json.ts';
import type { Frame } from './timeline/frame.ts';

/** An error an upstream reports; each protocol words it in its own envelope. */
export interface Complaint {
  readonly status: number;
  readonly code: string | null;
  /** Null for the words that usually come with this status and code. */
  readonly message: string | null;
  readonly param: string | null;
}

/** What makes one answer different from the next one to the same request. */
export interface Stamp {
  /** Counts the requests of one simulator from 1. */
  readonly sequence: number;
  /** Seconds since 1970. */
  readonly createdS: number;
}

export interface Rendering {
  readonly ask: Ask;
  readonly answer: Answer;
  readonly command: Command;
  readonly stamp: Stamp;
}

export type AskResult =
  | { readonly ok: true; readonly ask: Ask }
  | { readonly ok: false; readonly complaint: Complaint };

export type LookUp =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly complaint: Complaint };

/** An endpoint that counts the tokens of a prompt and answers nothing. */
interface Counting {
  at(path: string): boolean;
  readAsk(model: string, body: JsonRecord): AskResult;
  body(promptTokens: number): string;
}

/** One wire format of the simulator: a folder each, all under the same commands and faults. */
export interface SimulatedProtocol {
  readonly id: string;
  /** The response header that names the request. */
  readonly requestIdHeader: string;
  /** Null when the protocol has no such endpoint. */
  readonly counting: Counting | null;
  /** Whether POST to this path asks for an answer. */
  generatesAt(path: string): boolean;
  /** The model name a request carries, its command included; null when it names none. */
  modelOf(path: string, body: JsonRecord): string | null;
  /** `model` is the name without its command. */
  readAsk(model: string, body: JsonRecord): AskResult;
  answerBody(rendering: Rendering): string;
  answerFrames(rendering: Rendering): Iterable<Frame>;
  errorBody(complaint: Complaint): string;
  /** The same error inside a stream. */
  errorFrame(complaint: Complaint): string;
  /** Answers GET; null when the path is not of this protocol. */
  lookUp(path: string): LookUp | null;
}
