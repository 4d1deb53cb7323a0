import type { ReaderContext, TranslationTarget, WriterContext, WrittenTurn } from '../codec.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect } from '../request.ts';
import { text, traceId, turnOf } from '../translate/turn.fixture.ts';
import type { Block, MediaBlock, Message, ToolCallBlock, ToolResultBlock, Turn } from '../turn.ts';
import type { TurnEvent } from '../turn-event.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { chatCompletionsCodec } from './index.ts';
import { chatSurface } from './wire.ts';

export { text, traceId, turnOf };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function targetOf(rest: Partial<TranslationTarget> = {}): TranslationTarget {
  return {
    upstreamModel: 'upstream',
    path: '/chat/completions',
    dialect: defaultDialect,
    origin: 'here',
    maxOutputTokens: null,
    reasoning: true,
    ...rest,
  };
}

export const user = (...content: Block[]): Message => ({ role: 'user', content, name: null });
export const assistant = (...content: Block[]): Message => ({ role: 'assistant', content, name: null });

export function call(id: string, rest: Partial<ToolCallBlock> = {}): ToolCallBlock {
  return {
    kind: 'tool-call',
    id,
    name: 'look',
    namespace: null,
    form: 'function',
    input: '{}',
    sealed: null,
    ...rest,
  };
}

export function result(callId: string, ...content: ToolResultBlock['content']): ToolResultBlock {
  return { kind: 'tool-result', callId, isError: false, content, cacheTtl: null };
}

export function media(rest: Partial<MediaBlock>): MediaBlock {
  const source = { kind: 'base64', data: 'AA==' } as const;
  return {
    kind: 'media',
    media: 'image',
    mediaType: 'image/png',
    source,
    filename: null,
    detail: null,
    cacheTtl: null,
    ...rest,
  };
}

/** The server of the protocol's inventors. */
export const ownTarget = targetOf({ dialect: { ...defaultDialect, chatVocabulary: 'own' } });

export function readerContext(rest: Partial<ReaderContext> = {}): ReaderContext {
  return { origin: 'here', dialect: defaultDialect, names: new Map(), traceId, ...rest };
}

export function writerContext(rest: Partial<WriterContext> = {}): WriterContext {
  return {
    turn: turnOf({ surface: chatSurface }),
    traceId,
    createdS: 1_700_000_000,
    wantsUsageFrame: false,
    framing: 'sse',
    inputTokensEstimate: 1,
    ...rest,
  };
}

export function read(body: object) {
  return chatCompletionsCodec.readTurn(
    requestInput(JSON.stringify({ model: 'public', messages: [], ...body })),
  );
}

/** The request a caller of this surface sends, read; a fault of its reading is a failure of the test. */
export function readBody(body: object): Turn {
  const turn = read(body);
  if (!turn.ok) throw new Error(turn.error.message);
  return turn.value;
}

/** The body an upstream gets, and what it lost. */
export function written(turn: Turn, target = targetOf()): WrittenTurn & { readonly body: WireRecord } {
  const result = chatCompletionsCodec.writeTurn(turn, target);
  if (!result.ok) throw new Error(result.error.message);
  return { ...result.value, body: parsed(...result.value.request.body) };
}

/** The member a writer refuses; null when it refuses nothing. */
export function refusedField(turn: Turn, target = targetOf()): string | null {
  const result = chatCompletionsCodec.writeTurn(turn, target);
  return result.ok ? null : result.error.param;
}

export function parsed(...pieces: readonly Uint8Array[]): WireRecord {
  return recordOf(JSON.parse(pieces.map((piece) => decoder.decode(piece)).join('')));
}

export function bytesOf(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** The frame of a chunk with one delta. */
export function deltaFrame(delta: object, rest: object = {}): Uint8Array {
  return frameOf({ id: 'a', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
}

export function frameOf(chunk: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** The frames of a written stream, one by one. */
export function framesOf(stream: string): readonly Uint8Array[] {
  const frames = stream.split('\n\n').filter((frame) => frame !== '');
  return frames.map((frame) => encoder.encode(`${frame}\n\n`));
}

/** The chunks of a written stream, without its end. */
export function chunksOf(stream: string): readonly WireRecord[] {
  return framesOf(stream)
    .map((frame) => decoder.decode(frame).slice('data: '.length))
    .filter((data) => data !== '[DONE]\n\n')
    .map((data) => recordOf(JSON.parse(data)));
}

/** The events that the reader makes of these frames. */
export function readFrames(frames: readonly Uint8Array[], context = readerContext()): readonly TurnEvent[] {
  const reader = chatCompletionsCodec.openReader(context);
  const events = frames.flatMap((frame) => [...reader.read(frame)]);
  return [...events, ...reader.end()];
}

/** The whole stream for these events. */
export function writeEvents(events: Iterable<TurnEvent>, context = writerContext()): string {
  const writer = chatCompletionsCodec.openWriter(context);
  let stream = '';
  for (const event of events) stream += writer.write(event);
  return stream + writer.end();
}

export const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

/** Everything a turn has a place for. */
export const fullBody = {
  model: 'public',
  stream: true,
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        { id: 'c2', type: 'custom', custom: { name: 'run', input: 'ls' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'found' },
    { role: 'tool', tool_call_id: 'c2', content: 'files' },
    { role: 'system', content: 'Now in French.' },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: null, refusal: 'No.' },
    {
      role: 'user',
      content: [
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      ],
    },
  ],
  tools: [
    look,
    {
      type: 'custom',
      custom: { name: 'run', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
    },
  ],
  tool_choice: {
    type: 'allowed_tools',
    allowed_tools: {
      mode: 'auto',
      tools: [
        { type: 'function', function: { name: 'look' } },
        { type: 'custom', custom: { name: 'run' } },
      ],
    },
  },
  parallel_tool_calls: false,
  max_completion_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 4,
  seed: 7,
  presence_penalty: 1,
  frequency_penalty: -1,
  stop: ['a', 'b', 'c', 'd'],
  logprobs: true,
  top_logprobs: 2,
  n: 2,
  reasoning_effort: 'low',
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'x', schema: { type: 'object' }, strict: true },
  },
  verbosity: 'low',
  user: 'u',
  service_tier: 'flex',
  prompt_cache_key: 'k',
  metadata: { a: 'b' },
};
