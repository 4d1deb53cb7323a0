import type { KeyPlatform } from '../keys/snippets.ts';

/** One turn of a conversation; pictures are data URLs. */
export interface PlayTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly images?: readonly string[];
}

/** Everything that a request of the playground is made of. */
export interface PlayRequest {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly PlayTurn[];
  readonly stream: boolean;
  /** Null leaves it to the model. */
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly maxTokens: number | null;
  /** The answer ends before one of these. */
  readonly stop: readonly string[];
  /** Members of the body that this page has no field for; they hold against its own. */
  readonly more: Json;
}

/** A piece of an answer. */
export type PlayPiece =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'usage'; readonly input: number | null; readonly output: number | null }
  | { readonly kind: 'end'; readonly reason: string }
  | { readonly kind: 'problem'; readonly text: string };

/** A surface of the API as a page speaks it: the path, the body, and what an event or a whole answer says. */
export interface Surface {
  readonly id: 'chat' | 'responses' | 'messages' | 'generate';
  readonly label: string;
  readonly platform: KeyPlatform;
  /** The header that this surface's key goes in. */
  readonly keyHeader: 'authorization' | 'x-goog-api-key';
  /** True where a request may name texts to stop at. */
  readonly takesStops: boolean;
  path(request: PlayRequest): string;
  body(request: PlayRequest): object;
  pieces(event: Json): readonly PlayPiece[];
}

export type Json = Readonly<Record<string, unknown>>;

const maxTokensUsual = 1_024;

const chat: Surface = {
  ...{ id: 'chat', label: 'Chat completions', platform: 'completions', keyHeader: 'authorization' },
  takesStops: true,
  path: () => '/v1/chat/completions',
  body: ({ model, system, turns, stream, temperature, topP, maxTokens, stop }) => ({
    model,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
    ...(stop.length === 0 ? {} : { stop }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(({ role, text, images = [] }) => ({
        role,
        content:
          images.length === 0
            ? text
            : [...images.map((url) => ({ type: 'image_url', image_url: { url } })), { type: 'text', text }],
      })),
    ],
  }),
  pieces: (event) => {
    const [choice] = listAt(event, 'choices');
    const said = mapAt(choice, 'delta') ?? mapAt(choice, 'message');
    const reason = textAt(choice, 'finish_reason');
    return [
      ...textPiece('thinking', textAt(said, 'reasoning_content')),
      ...textPiece('text', textAt(said, 'content')),
      ...usagePiece(mapAt(event, 'usage'), 'prompt_tokens', 'completion_tokens'),
      ...(reason === '' ? [] : [{ kind: 'end', reason } as const]),
      ...problemPiece(event),
    ];
  },
};

const responses: Surface = {
  ...{ id: 'responses', label: 'Responses', platform: 'completions', keyHeader: 'authorization' },
  takesStops: false,
  path: () => '/v1/responses',
  body: ({ model, system, turns, stream, temperature, topP, maxTokens }) => ({
    model,
    ...(stream ? { stream } : {}),
    ...(system === '' ? {} : { instructions: system }),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
    input: turns.map(({ role, text, images = [] }) => ({
      role,
      content: [
        ...images.map((url) => ({ type: 'input_image', image_url: url })),
        { type: role === 'user' ? 'input_text' : 'output_text', text },
      ],
    })),
  }),
  pieces: (event) => {
    const type = textAt(event, 'type');
    if (type === 'response.output_text.delta') return textPiece('text', textAt(event, 'delta'));
    if (type === 'response.reasoning_summary_text.delta')
      return textPiece('thinking', textAt(event, 'delta'));
    const whole = mapAt(event, 'response') ?? (textAt(event, 'object') === 'response' ? event : undefined);
    if (whole === undefined) return problemPiece(event);
    if (type !== '' && !/^response\.(completed|failed|incomplete)$/.test(type)) return [];
    const parts = listAt(whole, 'output').flatMap((item) => listAt(item, 'content'));
    // A stream has said its text by pieces already.
    const texts = type === '' ? parts.flatMap((part) => textPiece('text', textAt(part, 'text'))) : [];
    return [
      ...texts,
      ...usagePiece(mapAt(whole, 'usage'), 'input_tokens', 'output_tokens'),
      ...problemPiece(whole),
      { kind: 'end', reason: textAt(whole, 'status') },
    ];
  },
};

const messages: Surface = {
  ...{ id: 'messages', label: 'Messages', platform: 'messages', keyHeader: 'authorization' },
  takesStops: true,
  path: () => '/v1/messages',
  body: ({ model, system, turns, stream, temperature, topP, maxTokens, stop }) => ({
    ...{ model, max_tokens: maxTokens ?? maxTokensUsual },
    ...(stream ? { stream } : {}),
    ...(system === '' ? {} : { system }),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    messages: turns.map(({ role, text, images = [] }) => ({
      role,
      content: [
        ...images.map((url) => {
          const { type, data } = dataOf(url);
          return { type: 'image', source: { type: 'base64', media_type: type, data } };
        }),
        { type: 'text', text },
      ],
    })),
  }),
  pieces: (event) => {
    const delta = mapAt(event, 'delta');
    const usage = mapAt(event, 'usage') ?? mapAt(mapAt(event, 'message'), 'usage');
    const reason = textAt(delta, 'stop_reason') || textAt(event, 'stop_reason');
    return [
      ...listAt(event, 'content').flatMap((part) => textPiece('text', textAt(part, 'text'))),
      ...textPiece('thinking', textAt(delta, 'thinking')),
      ...textPiece('text', textAt(delta, 'text')),
      ...usagePiece(usage, 'input_tokens', 'output_tokens'),
      ...(reason === '' ? [] : [{ kind: 'end', reason } as const]),
      ...problemPiece(event),
    ];
  },
};

const generate: Surface = {
  ...{ id: 'generate', label: 'Generate content', platform: 'native', keyHeader: 'x-goog-api-key' },
  takesStops: true,
  path: ({ model, stream }) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: ({ system, turns, temperature, topP, maxTokens, stop }) => ({
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(({ role, text, images = [] }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: [
        ...images.map((url) => {
          const { type, data } = dataOf(url);
          return { inlineData: { mimeType: type, data } };
        }),
        { text },
      ],
    })),
    generationConfig: {
      ...(temperature === null ? {} : { temperature }),
      ...(topP === null ? {} : { topP }),
      ...(maxTokens === null ? {} : { maxOutputTokens: maxTokens }),
      ...(stop.length === 0 ? {} : { stopSequences: stop }),
    },
  }),
  pieces: (event) => {
    const [candidate] = listAt(event, 'candidates');
    const parts = listAt(mapAt(candidate, 'content'), 'parts');
    const reason = textAt(candidate, 'finishReason');
    return [
      ...parts.flatMap((part) =>
        textPiece(part['thought'] === true ? 'thinking' : 'text', textAt(part, 'text')),
      ),
      ...usagePiece(mapAt(event, 'usageMetadata'), 'promptTokenCount', 'candidatesTokenCount'),
      ...(reason === '' ? [] : [{ kind: 'end', reason } as const]),
      ...problemPiece(event),
    ];
  },
};

/** All surfaces that a prompt can be tried on. */
export const surfaces: readonly Surface[] = [chat, responses, messages, generate];

/** The surface of this id; the first one of what is none. */
export function surfaceOf(id: string): Surface {
  return surfaces.find((each) => each.id === id) ?? chat;
}

/** The body as it is sent. */
export function bodyOf(surface: Surface, request: PlayRequest): object {
  return { ...surface.body(request), ...request.more };
}

function dataOf(url: string): { readonly type: string; readonly data: string } {
  const [, type = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type, data };
}

function textPiece(kind: 'text' | 'thinking', text: string): readonly PlayPiece[] {
  return text === '' ? [] : [{ kind, text }];
}

function usagePiece(usage: Json | undefined, input: string, output: string): readonly PlayPiece[] {
  if (usage === undefined) return [];
  return [{ kind: 'usage', input: numberAt(usage, input), output: numberAt(usage, output) }];
}

function problemPiece(event: Json): readonly PlayPiece[] {
  const error = mapAt(event, 'error');
  return error === undefined ? [] : [{ kind: 'problem', text: JSON.stringify({ error }) }];
}

function mapAt(value: Json | undefined, name: string): Json | undefined {
  const found = value?.[name];
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Json) : undefined;
}

function listAt(value: Json | undefined, name: string): readonly Json[] {
  const found = value?.[name];
  return Array.isArray(found) ? (found as Json[]) : [];
}

function textAt(value: Json | undefined, name: string): string {
  const found = value?.[name];
  return typeof found === 'string' ? found : '';
}

function numberAt(value: Json, name: string): number | null {
  const found = value[name];
  return typeof found === 'number' ? found : null;
}
