import type { Platform } from './configuration.ts';

/** How callers ask, and by what they know that an answer is whole. */
export interface Surface {
  readonly name: string;
  readonly platform: Platform;
  readonly stream: boolean;
  /** Its share of a hundred calls. */
  readonly share: number;
  path(model: string): string;
  body(model: string, prompt: string): object;
  /** Stands in a whole answer and in no other. */
  readonly endMark: string;
  /** Each states the number of tokens in its first group. */
  readonly usage: { readonly input: RegExp; readonly output: RegExp };
}

const outputTokensMax = 64;

const chat = {
  platform: 'completions',
  path: () => '/v1/chat/completions',
  usage: { input: /"prompt_tokens":(\d+)/, output: /"completion_tokens":(\d+)/ },
} as const;

function chatBody(model: string, content: string) {
  return { model, max_tokens: outputTokensMax, messages: [{ role: 'user', content }] };
}

const tokensOfMessages = { input: /"input_tokens":(\d+)/, output: /"output_tokens":(\d+)/ };

const messages = {
  platform: 'messages',
  path: () => '/v1/messages',
  usage: tokensOfMessages,
} as const;

/** Streams mostly. What callers speak and what channels speak is independent, so that many calls are translated. */
export const surfaces: readonly Surface[] = [
  {
    ...chat,
    name: 'chat-completions',
    stream: true,
    share: 50,
    body: (model, prompt) => ({
      stream: true,
      stream_options: { include_usage: true },
      ...chatBody(model, prompt),
    }),
    endMark: 'data: [DONE]',
  },
  {
    ...chat,
    name: 'chat-completions, JSON',
    stream: false,
    share: 10,
    body: chatBody,
    endMark: '"finish_reason":"stop"',
  },
  {
    ...messages,
    name: 'messages',
    stream: true,
    share: 20,
    body: (model, prompt) => ({ stream: true, ...chatBody(model, prompt) }),
    endMark: 'event: message_stop',
  },
  {
    ...messages,
    name: 'messages, JSON',
    stream: false,
    share: 5,
    body: chatBody,
    endMark: '"stop_reason":"end_turn"',
  },
  {
    name: 'responses',
    platform: 'completions',
    stream: true,
    share: 10,
    path: () => '/v1/responses',
    body: (model, input) => ({ model, input, stream: true, max_output_tokens: outputTokensMax }),
    endMark: 'event: response.completed',
    usage: tokensOfMessages,
  },
  {
    name: 'generate-content',
    platform: 'native',
    stream: true,
    share: 5,
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: (_, text) => ({
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { maxOutputTokens: outputTokensMax },
    }),
    endMark: '"finishReason":"STOP"',
    usage: { input: /"promptTokenCount":(\d+)/, output: /"candidatesTokenCount":(\d+)/ },
  },
];

/** The surface at a point between 0 and 1, by the surfaces' shares. */
export function surfaceAt(point: number): Surface {
  let passed = 0;
  for (const surface of surfaces) {
    passed += surface.share / 100;
    if (point < passed) return surface;
  }
  throw new Error(`no surface at ${point}`);
}

/** The bytes of a call. `id` finds it in the ledger, whatever becomes of it. */
export function requestOf(
  surface: Surface,
  call: { readonly id: string; readonly model: string; readonly key: string },
): Buffer {
  const prompt = `Question ${call.id}: which of all these channels is the cheapest one that will answer?`;
  const body = JSON.stringify(surface.body(call.model, prompt));
  return Buffer.from(
    `POST ${surface.path(call.model)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${credentialHeader(surface.platform)}${call.key}\r\n` +
      `x-client-request-id: ${call.id}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function credentialHeader(platform: Platform): string {
  switch (platform) {
    case 'completions':
      return 'authorization: Bearer ';
    case 'messages':
      return 'x-api-key: ';
    case 'native':
      return 'x-goog-api-key: ';
    default:
      return platform satisfies never;
  }
}
