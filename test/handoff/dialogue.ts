import type { ProtocolId } from '@headgate/protocols';

/** JSON as these tests read it. */
export type Json = Record<string, unknown>;

/** A tool in no protocol's words. */
export interface ToolSpec {
  readonly name: string;
  readonly parameters: Json;
}

/** The wish of a caller, in no protocol's words. */
export interface Ask {
  readonly prompt: string;
  /** A picture before the prompt, PNG in base64. */
  readonly image?: string;
  readonly tools?: readonly ToolSpec[];
  /** The answer must follow it. */
  readonly schema?: Json;
  /** Thoughts are asked for and shown. */
  readonly reasoning?: boolean;
  readonly maxTokens?: number;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Why an answer ended, as a caller of any surface understands it. */
export type Stop = 'stop' | 'length' | 'tools' | 'refusal';

/** An answer as its caller understands it. */
export interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly Call[];
  readonly stop: Stop;
  /** Tokens as the answer states them, all input and all output. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** The caller sends this back to go on: messages, items or contents of its surface. */
  readonly turn: readonly Json[];
}

/** The conversation so far: messages, items or contents. */
export type History = readonly Json[];

/** How a caller of one surface speaks, hand-written from its wire reference and stricter than most clients. */
export interface SurfaceDialogue {
  readonly id: ProtocolId;
  readonly platform: 'completions' | 'messages' | 'native';
  begin(ask: Ask): History;
  request(model: string, ask: Ask, history: History, stream: boolean): { path: string; body: Json };
  readWhole(answer: Json): Said;
  /** Reads the frames of a whole stream; throws on one that a strict client would not take. */
  readStream(body: string): Said;
  /** The history with the answer and the results of its calls, in their order. */
  goOn(history: History, said: Said, results: readonly string[]): History;
  /** This marks the end of a whole stream, and so may not be in one that was cut. */
  readonly endMark: string | RegExp;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function json(value: unknown): Json {
  if (!isJson(value)) throw new Error(`an object is missing: ${JSON.stringify(value)}`);
  return value;
}

export function list(value: unknown): readonly Json[] {
  if (!Array.isArray(value)) throw new Error(`a list is missing: ${JSON.stringify(value)}`);
  return value.map(json);
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`a text is missing: ${JSON.stringify(value)}`);
  return value;
}

export function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    throw new Error(`a count is missing: ${JSON.stringify(value)}`);
  return value;
}

export function must(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

/** An event of an event stream, as its frame spells it. */
export interface NamedEvent {
  readonly name: string | null;
  readonly data: string;
}

/** Events of a stream; comments and pings without data are left out. */
export function eventsOf(body: string): readonly NamedEvent[] {
  return body
    .split(/\r\n\r\n|\n\n/)
    .map((frame) => {
      const lines = frame.split(/\r?\n/);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { name: field('event') ?? null, data: field('data') ?? '' };
    })
    .filter(({ data }) => data !== '');
}
