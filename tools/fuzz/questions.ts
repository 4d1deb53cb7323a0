import { type Endpoint, endpoints, type Platform } from '@headgate/protocols';

/** A request that is right, to be made wrong: the members that callers of an endpoint send. */
export interface Question {
  readonly endpoint: Endpoint;
  readonly platform: Platform;
  /** With `{model}` where the path names one. */
  readonly path: string;
  /** Null where the endpoint takes none. */
  readonly body: ((model: string, stream: boolean) => object) | null;
  readonly form: boolean;
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, exact: { type: ['boolean', 'null'] }, days: { $ref: '#/$defs/n' } },
  required: ['city'],
  additionalProperties: false,
  $defs: { n: { type: 'integer', minimum: 0 } },
};

function chat(model: string, stream: boolean): object {
  return {
    model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'What is in it? 🌦' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Zürich"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
      { role: 'assistant', content: 'It rains.', refusal: null },
      { role: 'user', content: 'And tomorrow?' },
    ],
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    tools: [
      {
        type: 'function',
        function: { name: 'get_weather', description: 'd', strict: true, parameters: schema },
      },
    ],
    tool_choice: 'none',
    response_format: { type: 'json_schema', json_schema: { name: 'report', schema, strict: true } },
    temperature: 0.2,
    top_p: 1,
    max_completion_tokens: 20,
    stop: ['END', '\n\n'],
    seed: 7,
    n: 1,
    logit_bias: { '50256': -100 },
    user: 'ann',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
  };
}

function responses(model: string, stream: boolean): object {
  return {
    model,
    instructions: 'Be brief.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is in it?' },
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'auto' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'gAAA',
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'get_weather',
        arguments: '{"city":"Rom"}',
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'sun' },
      { role: 'user', content: 'And tomorrow?' },
    ],
    stream,
    tools: [
      { type: 'function', name: 'get_weather', parameters: schema, strict: true },
      { type: 'custom', name: 'run', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    ],
    tool_choice: { type: 'function', name: 'get_weather' },
    parallel_tool_calls: true,
    text: { format: { type: 'json_schema', name: 'report', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 30,
    store: false,
    metadata: { a: 'b' },
  };
}

function messages(model: string, stream: boolean): object {
  return {
    model,
    max_tokens: 2000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is in it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'a file' },
            title: 't',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rom' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: false,
            content: [{ type: 'text', text: 'sun' }],
          },
        ],
      },
    ],
    stream,
    tools: [{ name: 'get_weather', description: 'd', input_schema: schema }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    stop_sequences: ['END'],
    metadata: { user_id: 'ann' },
    top_k: 5,
  };
}

function native(): object {
  return {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        role: 'user',
        parts: [{ text: 'What is in it?' }, { inlineData: { mimeType: 'image/png', data: pixel } }],
      },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 'c2ln' },
          { functionCall: { id: '1', name: 'get_weather', args: { city: 'Rom' } } },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: '1', name: 'get_weather', response: { out: 'sun' } } }],
      },
    ],
    tools: [
      { functionDeclarations: [{ name: 'get_weather', description: 'd', parameters: { type: 'OBJECT' } }] },
    ],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    generationConfig: {
      maxOutputTokens: 20,
      temperature: 0.1,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
      thinkingConfig: { includeThoughts: true, thinkingBudget: 128 },
    },
  };
}

function embedding(): object {
  const one = {
    content: { parts: [{ text: 'a text' }] },
    taskType: 'RETRIEVAL_QUERY',
    outputDimensionality: 8,
  };
  return { ...one, requests: [{ model: 'models/m', ...one }] };
}

function image(model: string, stream: boolean): object {
  return {
    model,
    prompt: 'A house',
    n: 1,
    size: '1024x1024',
    quality: 'low',
    output_format: 'png',
    ...(stream ? { stream, partial_images: 1 } : {}),
    images: [{ image_url: `data:image/png;base64,${pixel}` }],
  };
}

/** Every endpoint of the API port, in the order of its table. */
export const questions: readonly Question[] = endpoints.map((endpoint) => ({
  endpoint,
  platform: endpoint.platform === 'any' ? 'completions' : endpoint.platform,
  path: endpoint.path,
  body: bodyOf(endpoint),
  form: 'takesForms' in endpoint && endpoint.takesForms === true,
}));

function bodyOf(endpoint: Endpoint): Question['body'] {
  if (!('protocol' in endpoint)) return null;
  switch (endpoint.protocol) {
    case 'chat-completions':
      return chat;
    case 'responses':
      return responses;
    case 'messages':
      return messages;
    case 'generate-content':
      return endpoint.kind === 'embed' ? embedding : native;
    case 'images':
      return image;
    default:
      return endpoint.protocol satisfies never;
  }
}
