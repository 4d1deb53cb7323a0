import {
  type Block,
  type Codec,
  defaultDialect,
  noSettings,
  noUsage,
  type ProtocolId,
  protocols,
  type Turn,
  type TurnEvent,
  type WriterContext,
} from '@headgate/protocols';

/** The same conversation, answer and stream in every protocol, written by the codecs themselves. */

/** One conversation of an agent: instructions, tools, and turns of calls and results. */
export interface Conversation {
  readonly surface: ProtocolId;
  readonly model: string;
  readonly stream: boolean;
  /** About; the protocols differ in what they add. */
  readonly bodyBytes: number;
}

/** The body a caller of the surface sends. */
export function requestBody(conversation: Conversation): Buffer {
  const target = {
    upstreamModel: conversation.model,
    path: '',
    dialect: defaultDialect,
    origin: 'bench',
    maxOutputTokens: null,
    reasoning: false,
  };
  const written = codecOf(conversation.surface).writeTurn(turnOf(conversation), target);
  if (!written.ok) throw new Error(written.error.message);
  return Buffer.concat(written.value.request.body);
}

/** A whole answer of an upstream, JSON. */
export function answerBody(upstream: ProtocolId): Uint8Array {
  const content = [textBlock(words.repeat(12))];
  const answer = { answerId: 'answer', model: 'bench', content, finish };
  return codecOf(upstream).writeAnswer(answer, contextOf(upstream));
}

/** The frames of an upstream's stream, one for every few words. */
export function streamFrames(upstream: ProtocolId, count: number): readonly Buffer[] {
  const writer = codecOf(upstream).openWriter(contextOf(upstream));
  const events: TurnEvent[] = [
    { kind: 'start', answerId: 'answer', model: 'bench', usage: null },
    { kind: 'block-start', block: { kind: 'text' } },
    ...Array.from({ length: count }, (_, index): TurnEvent => {
      return { kind: 'delta', delta: { kind: 'text', text: ` token ${index} and` } };
    }),
    { kind: 'block-stop' },
    { kind: 'finish', ...finish },
  ];
  const frames = [...events.map((event) => writer.write(event)), writer.end()];
  return frames.filter((frame) => frame !== '').map((frame) => Buffer.from(frame));
}

const words = 'The quick brown fox jumps over the lazy dog, and says "why not" to it.\n';
const usage = { ...noUsage, inputFresh: 320, output: 144 };
const finish = { reason: 'stop', rawReason: null, stopSequence: null, usage } as const;

/** Bytes of one turn of the conversation: a call, what it returns, and what is said of it. */
const exchangeBytes = 4_000;

function turnOf({ surface, model, stream, bodyBytes }: Conversation): Turn {
  const exchanges = Array.from({ length: Math.ceil(bodyBytes / exchangeBytes) }, (_, index) =>
    exchange(index),
  );
  return {
    ...emptyTurn(surface),
    model,
    stream,
    messages: [...exchanges.flat(), said('user', textBlock('Go on.'))],
  };
}

function emptyTurn(surface: ProtocolId): Turn {
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const tool = { kind: 'function', namespace: null, parameters, strict: null, cacheTtl: null } as const;
  return {
    surface: codecOf(surface).surface,
    model: '',
    stream: false,
    system: [textBlock(words)],
    messages: [],
    tools: Array.from({ length: 20 }, (_, index) => ({ ...tool, name: `read_${index}`, description: words })),
    toolChoice: null,
    settings: { ...noSettings, maxOutputTokens: 4_000 },
    spelling: {},
    extensions: [],
  };
}

function exchange(index: number): Turn['messages'] {
  const id = `call_${index}`;
  const input = JSON.stringify({ path: `/src/${index}.ts` });
  const call = {
    kind: 'tool-call',
    id,
    name: 'read_1',
    namespace: null,
    form: 'function',
    input,
    sealed: null,
  } as const;
  const content = [textBlock(words.repeat(Math.floor((exchangeBytes * 0.7) / words.length)))];
  return [
    said('user', textBlock(words.repeat(6))),
    said('assistant', textBlock(words.repeat(4)), call),
    said('user', { kind: 'tool-result', callId: id, isError: false, content, cacheTtl: null }),
  ];
}

function said(role: 'user' | 'assistant', ...content: readonly Block[]): Turn['messages'][number] {
  return { role, content, name: null };
}

function textBlock(text: string) {
  return { kind: 'text', text, citations: [], cacheTtl: null } as const;
}

function contextOf(upstream: ProtocolId): WriterContext {
  return {
    turn: emptyTurn(upstream),
    traceId: '0123456789abcdef0123456789abcdef',
    createdS: 1_700_000_000,
    wantsUsageFrame: true,
    framing: 'sse',
    inputTokensEstimate: 320,
  };
}

function codecOf(id: ProtocolId): Codec {
  const codec = protocols[id]?.codec ?? null;
  if (codec === null) throw new Error(`${id} is not translated`);
  return codec;
}
