import { chatSurface } from '../chat-completions/wire.ts';
import type { ReaderContext, TranslationTarget, WriterContext } from '../codec.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect } from '../request.ts';
import { noSettings, type Turn } from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { messagesCodec } from './index.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const reader: ReaderContext = {
  origin: 'here',
  names: new Map(),
  traceId: '0'.repeat(32),
  dialect: defaultDialect,
};

export const emptyTurn: Turn = {
  surface: chatSurface,
  model: 'alias',
  stream: false,
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  settings: noSettings,
  spelling: {},
  extensions: [],
};

export const writer: WriterContext = {
  turn: emptyTurn,
  traceId: '0'.repeat(32),
  createdS: 0,
  wantsUsageFrame: false,
  framing: 'sse',
  inputTokensEstimate: 42,
};

export function targetOf(rest: Partial<TranslationTarget> = {}): TranslationTarget {
  return {
    upstreamModel: 'served',
    path: '/v1/messages',
    dialect: defaultDialect,
    origin: 'here',
    maxOutputTokens: 64_000,
    reasoning: true,
    ...rest,
  };
}

const hello = [{ role: 'user', content: 'hi' }];

export function read(members: object): ReturnType<typeof messagesCodec.readTurn> {
  const body = { model: 'alias', max_tokens: 100, messages: hello, ...members };
  return messagesCodec.readTurn(requestInput(JSON.stringify(body)));
}

export function turnOf(members: object): Turn {
  const turn = read(members);
  if (!turn.ok) throw new Error(turn.error.message);
  return turn.value;
}

export function write(turn: Partial<Turn>, target: Partial<TranslationTarget> = {}) {
  const written = messagesCodec.writeTurn({ ...emptyTurn, ...turn }, targetOf(target));
  if (!written.ok) throw new Error(written.error.message);
  const { request, losses, names } = written.value;
  return {
    body: parseAs<WrittenBody>(request.body.map((piece) => decoder.decode(piece)).join('')),
    losses,
    names,
  };
}

/** A request as it is written, as far as tests look into it. */
export interface WrittenBody extends WireRecord {
  readonly messages: readonly { readonly role: string; readonly content: readonly WireRecord[] }[];
  readonly tools?: readonly WireRecord[];
}

/** JSON of ours, whose shape the test goes on to check. */
export function parseAs<Shape>(text: string): Shape {
  return JSON.parse(text) as Shape; // The one place where the shape is taken on trust.
}

/** The data of a frame of ours. */
export function dataOf<Shape = WireRecord>(frame = ''): Shape {
  return parseAs<Shape>(frame.slice(frame.indexOf('data: ') + 'data: '.length));
}

export function readEvents(frames: readonly string[], context = reader) {
  const events = messagesCodec.openReader(context);
  return [...frames.flatMap((frame) => [...events.read(encoder.encode(frame))]), ...events.end()];
}

/** A stream as a caller gets it, cut into its frames. */
export function framesOf(text: string): readonly string[] {
  return text.split(/(?<=\n\n)/);
}
