import type { ReaderContext, TranslationTarget, WriterContext } from '../codec.ts';
import { messagesSurface } from '../messages/wire.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect } from '../request.ts';
import { type FunctionTool, type Message, noSettings, type Turn } from '../turn.ts';
import { readTurn } from './read-messages.ts';
import { generateContentSurface } from './wire.ts';

/** A request of another protocol's; what is not given is empty. */
export function turnOf(given: Partial<Turn> = {}): Turn {
  return {
    surface: messagesSurface,
    model: 'm',
    stream: false,
    system: [],
    messages: [{ role: 'user', content: [words('Hi')], name: null }],
    tools: [],
    toolChoice: null,
    settings: noSettings,
    spelling: {},
    extensions: [],
    ...given,
  };
}

export function words(text: string) {
  return { kind: 'text', text, citations: [], cacheTtl: null } as const;
}

export function says(role: Message['role'], ...content: Message['content']): Message {
  return { role, content, name: null };
}

export function functionTool(name: string, more: Partial<FunctionTool> = {}): FunctionTool {
  const rest = { namespace: null, description: '', parameters: null, strict: null, cacheTtl: null };
  return { kind: 'function', name, ...rest, ...more };
}

export function targetOf(given: Partial<TranslationTarget> = {}): TranslationTarget {
  return {
    upstreamModel: 'native-2.5-flash',
    path: '/v1beta/models/{model}:{action}',
    dialect: defaultDialect,
    origin: 'here',
    maxOutputTokens: null,
    reasoning: true,
    ...given,
  };
}

export const traceId = '0123456789abcdef0123456789abcdef';

export const readerContext: ReaderContext = {
  origin: 'here',
  dialect: defaultDialect,
  names: new Map(),
  traceId,
};

export function writerContext(given: Partial<WriterContext> = {}): WriterContext {
  return {
    turn: turnOf({ surface: generateContentSurface, model: 'public' }),
    traceId,
    createdS: 1_700_000_000,
    wantsUsageFrame: true,
    framing: 'sse',
    inputTokensEstimate: 9,
    ...given,
  };
}

/** Reads a request of this protocol. */
export function readNative(body: object, action = 'generateContent') {
  return readTurn(requestInput(JSON.stringify(body), { params: { model: 'public', action } }));
}
