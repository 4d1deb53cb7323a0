import type { Platform } from '@headgate/protocols';
import type { Feature, UpstreamProtocol } from '../support/protocol-site.ts';
import type { Description } from './published-schemas.ts';

/** How a surface is called, and which published descriptions it promises to keep. */
export interface Surface {
  readonly protocol: UpstreamProtocol;
  readonly platform: Platform;
  readonly keyHeader: string;
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, feature: Feature, stream: boolean) => object;
  readonly descriptions: readonly Described[];
}

/** One description, and its names for what is emitted; `frame` is null where each event has a schema of its own. */
export interface Described {
  readonly description: Description;
  readonly whole: string;
  readonly frame: string | null;
}

const question = 'How far is the moon?';
const tools = {
  weather: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  clock: { type: 'object', properties: { zone: { type: 'string' } } },
};
const toolNames = Object.entries(tools).map(([name, schema]) => ({ name, schema }));
const distance = {
  type: 'object',
  properties: { far: { type: 'boolean' } },
  required: ['far'],
  additionalProperties: false,
};

const callsTools = (feature: Feature) => feature === 'tools' || feature === 'thinking-tools';
const thinks = (feature: Feature) => feature === 'thinking' || feature === 'thinking-tools';

/** Tokens; few for what is to be cut short. */
const limitOf = (feature: Feature) => (feature === 'short' ? 16 : 2000);

function chatBody(model: string, feature: Feature, stream: boolean): object {
  const format = { type: 'json_schema', json_schema: { name: 'distance', schema: distance, strict: true } };
  return {
    model,
    messages: [{ role: 'user', content: question }],
    max_completion_tokens: limitOf(feature),
    ...(stream && { stream, stream_options: { include_usage: true } }),
    ...(callsTools(feature) && {
      tools: toolNames.map(({ name, schema }) => ({
        type: 'function',
        function: { name, parameters: schema },
      })),
    }),
    ...(thinks(feature) && { reasoning_effort: 'low' }),
    ...(feature === 'schema' && { response_format: format }),
  };
}

function responsesBody(model: string, feature: Feature, stream: boolean): object {
  return {
    model,
    input: question,
    stream,
    max_output_tokens: limitOf(feature),
    ...(callsTools(feature) && {
      tools: toolNames.map(({ name, schema }) => ({
        type: 'function',
        name,
        parameters: schema,
        strict: false,
      })),
    }),
    ...(thinks(feature) && {
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
    ...(feature === 'schema' && {
      text: { format: { type: 'json_schema', name: 'distance', schema: distance, strict: true } },
    }),
  };
}

function messagesBody(model: string, feature: Feature, stream: boolean): object {
  return {
    model,
    messages: [{ role: 'user', content: question }],
    max_tokens: limitOf(feature),
    stream,
    ...(callsTools(feature) && {
      tools: toolNames.map(({ name, schema }) => ({ name, input_schema: schema })),
    }),
    ...(thinks(feature) && { thinking: { type: 'enabled', budget_tokens: 1024, display: 'summarized' } }),
    ...(feature === 'schema' && { output_config: { format: { type: 'json_schema', schema: distance } } }),
  };
}

function nativeBody(_model: string, feature: Feature): object {
  return {
    contents: [{ role: 'user', parts: [{ text: question }] }],
    ...(callsTools(feature) && {
      tools: [
        {
          functionDeclarations: toolNames.map(({ name, schema }) => ({ name, parametersJsonSchema: schema })),
        },
      ],
    }),
    generationConfig: {
      maxOutputTokens: limitOf(feature),
      ...(thinks(feature) && { thinkingConfig: { includeThoughts: true } }),
      ...(feature === 'schema' && { responseMimeType: 'application/json', responseJsonSchema: distance }),
    },
  };
}

export const surfaces: Readonly<Record<'chat' | 'responses' | 'messages' | 'native', Surface>> = {
  chat: {
    protocol: 'chat-completions',
    platform: 'completions',
    keyHeader: 'authorization',
    path: () => '/v1/chat/completions',
    body: chatBody,
    descriptions: [
      {
        description: 'openai',
        whole: 'CreateChatCompletionResponse',
        frame: 'CreateChatCompletionStreamResponse',
      },
    ],
  },
  responses: {
    protocol: 'responses',
    platform: 'completions',
    keyHeader: 'authorization',
    path: () => '/v1/responses',
    body: responsesBody,
    descriptions: [
      { description: 'openai', whole: 'Response', frame: null },
      { description: 'open-responses', whole: 'ResponseResource', frame: null },
    ],
  },
  messages: {
    protocol: 'messages',
    platform: 'messages',
    keyHeader: 'x-api-key',
    path: () => '/v1/messages',
    body: messagesBody,
    descriptions: [{ description: 'anthropic', whole: 'Message', frame: null }],
  },
  native: {
    protocol: 'generate-content',
    platform: 'native',
    keyHeader: 'x-goog-api-key',
    path: (model, stream) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: nativeBody,
    descriptions: [
      { description: 'vertex', whole: 'GenerateContentResponse', frame: 'GenerateContentResponse' },
    ],
  },
};
