import type { ProtocolId, Usage, UsageTerms } from '@headgate/protocols';

/*
 * Calls as callers of each surface make them, with what a price may depend on: terms that requests and answers name, every class of
 * usage, every fee. What a call means is said beside it, so that no reader of ours is believed.
 */

export interface PricedCall {
  readonly surface: ProtocolId;
  readonly request: object;
  readonly answer: object;
  readonly usage: Partial<Usage>;
  /** The terms that the call is charged on. */
  readonly terms: Partial<UsageTerms>;
  /** The service tier that the request asks for by name; null where it asks for the usual one. */
  readonly asked: string | null;
}

type Members = Readonly<Record<string, unknown>>;

/** The terms of a call: how its request asks for them, and how its answer tells them. */
interface Terms {
  readonly request: Members;
  readonly answer?: Members;
  readonly usage?: Members;
  readonly meant: Partial<UsageTerms>;
  readonly asked?: string;
}

/** The usage, in the words of the surface. */
interface Used {
  readonly usage: Members;
  readonly answer?: Members;
  readonly meant: Partial<Usage>;
  readonly prompt?: number;
}

/** Below and above the sizes at which list prices change. */
const sizes = [1_000, 130_000, 210_000, 300_000];

const plain: Terms = { request: {}, meant: {} };
const tier = (member: string, word: string, meant: string | null, told?: string): Terms => ({
  request: { [member]: word },
  ...(told === undefined ? {} : { answer: { [member]: told } }),
  meant: meant === null ? {} : { service: meant },
  ...(meant === null && told === undefined ? {} : { asked: word }),
});

const wordTiers: readonly Terms[] = [
  plain,
  tier('service_tier', 'auto', null),
  tier('service_tier', 'priority', 'priority', 'priority'),
  tier('service_tier', 'flex', 'flex', 'flex'),
  // The answer's word counts: what was asked for was not given.
  tier('service_tier', 'priority', null, 'default'),
  { ...plain, answer: { service_tier: 'priority' }, meant: { service: 'priority' } },
];

const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];

function chatCall(terms: Terms, used: Used): PricedCall {
  return {
    surface: 'chat-completions',
    request: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...terms.request },
    answer: { id: 'a', object: 'chat.completion', model: 'm', choices, ...terms.answer, usage: used.usage },
    ...meaning(terms, used),
  };
}

const chatUsed = (input: number): readonly Used[] => [
  {
    usage: { prompt_tokens: input, completion_tokens: 70 },
    meant: { inputFresh: input, output: 70 },
  },
  {
    usage: {
      prompt_tokens: input,
      completion_tokens: 900,
      prompt_tokens_details: { cached_tokens: 640 },
      completion_tokens_details: { reasoning_tokens: 512 },
    },
    meant: { inputFresh: input - 640, inputCacheRead: 640, output: 900, outputReasoning: 512 },
  },
  {
    usage: {
      prompt_tokens: input,
      completion_tokens: 300,
      prompt_tokens_details: { audio_tokens: 100, image_tokens: 50 },
      completion_tokens_details: { audio_tokens: 200 },
    },
    meant: {
      inputFresh: input - 150,
      inputAudio: 100,
      inputImage: 50,
      output: 100,
      outputAudio: 200,
    },
  },
  {
    usage: { prompt_tokens: input, completion_tokens: 5, server_tool_use: { web_search_requests: 3 } },
    meant: { inputFresh: input, output: 5, webSearches: 3 },
  },
  {
    usage: { prompt_tokens: input, completion_tokens: 5, citation_tokens: 20, num_search_queries: 2 },
    meant: { inputFresh: input, output: 5, citation: 20, webSearches: 2 },
  },
];

function responsesCall(terms: Terms, used: Used): PricedCall {
  const output = [
    ...((used.answer?.['output'] as readonly object[] | undefined) ?? []),
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    },
  ];
  return {
    surface: 'responses',
    request: { model: 'm', input: 'Hi', ...terms.request },
    answer: {
      id: 'r',
      object: 'response',
      status: 'completed',
      model: 'm',
      ...terms.answer,
      output,
      usage: used.usage,
    },
    ...meaning(terms, used),
  };
}

const responsesUsed = (input: number): readonly Used[] => [
  { usage: { input_tokens: input, output_tokens: 70 }, meant: { inputFresh: input, output: 70 } },
  {
    usage: {
      input_tokens: input,
      output_tokens: 900,
      input_tokens_details: { cached_tokens: 640 },
      output_tokens_details: { reasoning_tokens: 512 },
    },
    meant: { inputFresh: input - 640, inputCacheRead: 640, output: 900, outputReasoning: 512 },
  },
  {
    // One round of searching and one of answering: each prompt was half of what is counted.
    answer: { output: [{ type: 'web_search_call', id: 'w', action: { type: 'search', query: 'x' } }] },
    usage: { input_tokens: input, output_tokens: 10 },
    meant: { inputFresh: input, output: 10, webSearches: 1 },
    prompt: input / 2,
  },
  {
    answer: {
      output: [
        { type: 'code_interpreter_call', id: 'c', container_id: 'k1' },
        { type: 'code_interpreter_call', id: 'd', container_id: 'k1' },
        { type: 'file_search_call', id: 'f' },
      ],
    },
    usage: { input_tokens: input, output_tokens: 10 },
    meant: { inputFresh: input, output: 10, codeSessions: 1, fileSearches: 1 },
    prompt: input / 4,
  },
  {
    usage: { input_tokens: input, output_tokens: 10, input_tokens_details: { cached_tokens: input } },
    meant: { inputCacheRead: input, output: 10 },
  },
];

const messagesTerms: readonly Terms[] = [
  plain,
  { request: { service_tier: 'standard_only' }, meant: {} },
  { request: { service_tier: 'auto' }, usage: { service_tier: 'priority' }, meant: { service: 'priority' } },
  { request: { speed: 'fast' }, usage: { speed: 'fast' }, meant: { service: 'fast' }, asked: 'fast' },
  { request: { inference_geo: 'us' }, usage: { inference_geo: 'us' }, meant: { region: 'us' } },
  { request: { inference_geo: 'global' }, usage: { inference_geo: 'global' }, meant: {} },
];

function messagesCall(terms: Terms, used: Used): PricedCall {
  const message = { model: 'm', max_tokens: 900, messages: [{ role: 'user', content: 'Hi' }] };
  const content = [{ type: 'text', text: 'hi' }];
  return {
    surface: 'messages',
    request: { ...message, ...terms.request },
    answer: {
      id: 'a',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage: { ...used.usage, ...terms.usage },
    },
    ...meaning(terms, used),
  };
}

const messagesUsed = (input: number): readonly Used[] => [
  { usage: { input_tokens: input, output_tokens: 70 }, meant: { inputFresh: input, output: 70 } },
  {
    usage: { input_tokens: 10, cache_read_input_tokens: input - 10, output_tokens: 70 },
    meant: { inputFresh: 10, inputCacheRead: input - 10, output: 70 },
  },
  {
    usage: {
      input_tokens: 10,
      output_tokens: 70,
      cache_creation_input_tokens: input,
      cache_creation: { ephemeral_5m_input_tokens: input - 300, ephemeral_1h_input_tokens: 300 },
    },
    meant: { inputFresh: 10, inputCacheWrite5m: input - 300, inputCacheWrite1h: 300, output: 70 },
  },
  {
    usage: { input_tokens: input, output_tokens: 900, output_tokens_details: { thinking_tokens: 512 } },
    meant: { inputFresh: input, output: 900, outputReasoning: 512 },
  },
  {
    usage: { input_tokens: input, output_tokens: 9, server_tool_use: { web_search_requests: 2 } },
    meant: { inputFresh: input, output: 9, webSearches: 2 },
  },
];

const nativeTerms: readonly Terms[] = [
  plain,
  {
    request: { serviceTier: 'flex' },
    usage: { serviceTier: 'flex' },
    meant: { service: 'flex' },
    asked: 'flex',
  },
  {
    request: { serviceTier: 'priority' },
    usage: { trafficType: 'ON_DEMAND_PRIORITY' },
    meant: { service: 'priority' },
    asked: 'priority',
  },
  { request: { serviceTier: 'standard' }, usage: { trafficType: 'ON_DEMAND' }, meant: {} },
  { request: {}, usage: { trafficType: 'ON_DEMAND_FLEX' }, meant: { service: 'flex' } },
  { request: { serviceTier: 'priority' }, usage: { serviceTier: 'standard' }, meant: {}, asked: 'priority' },
];

function nativeCall(terms: Terms, used: Used): PricedCall {
  const parts = [{ text: 'hi' }];
  return {
    surface: 'generate-content',
    request: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...terms.request },
    answer: {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...used.answer }],
      usageMetadata: { totalTokenCount: 9, ...used.usage, ...terms.usage },
    },
    ...meaning(terms, used),
  };
}

const nativeUsed = (input: number): readonly Used[] => [
  {
    usage: { promptTokenCount: input, candidatesTokenCount: 70 },
    meant: { inputFresh: input, output: 70 },
  },
  {
    usage: {
      promptTokenCount: input,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 800,
      cachedContentTokenCount: 640,
    },
    meant: { inputFresh: input - 640, inputCacheRead: 640, output: 900, outputReasoning: 800 },
  },
  {
    usage: {
      promptTokenCount: input,
      candidatesTokenCount: 100,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 90 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 60 }],
    },
    meant: { inputFresh: input - 90, inputAudio: 90, output: 40, outputImage: 60 },
  },
  {
    answer: { groundingMetadata: { webSearchQueries: ['a', 'b'] } },
    usage: { promptTokenCount: input, candidatesTokenCount: 7 },
    meant: { inputFresh: input, output: 7, webSearches: 2, groundings: 1 },
  },
  {
    usage: {
      promptTokenCount: input,
      candidatesTokenCount: 100,
      cachedContentTokenCount: 500,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 300 }],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 200 }],
    },
    meant: {
      inputFresh: input - 600,
      inputCacheRead: 300,
      inputCacheReadAudio: 200,
      inputAudio: 100,
      output: 100,
    },
  },
];

function meaning(terms: Terms, { meant, prompt }: Used): Pick<PricedCall, 'usage' | 'terms' | 'asked'> {
  const promptTokens = prompt === undefined ? {} : { promptTokens: prompt };
  return { usage: meant, terms: { ...terms.meant, ...promptTokens }, asked: terms.asked ?? null };
}

function imagesCalls(): readonly PricedCall[] {
  const kinds = ['1024x1024', '1024x1536', '1536x1024', 'auto'].flatMap((size) =>
    ['low', 'medium', 'high'].map((quality) => ({ size, quality })),
  );
  return [1, 2, 4].flatMap((n) =>
    kinds.flatMap((kind) => [tokensCall(kind, n), piecesCall(kind, n), namedCall(kind, n)]),
  );
}

type ImageKind = Readonly<Record<'size' | 'quality', string>>;
const pictures = (n: number) => Array.from({ length: n }, () => ({ b64_json: 'aGk=' }));
const imageRequest = (kind: ImageKind, n: number) => ({ model: 'm', prompt: 'a cat', n, ...kind });

function tokensCall(kind: ImageKind, n: number): PricedCall {
  const usage = {
    input_tokens: 50,
    input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    output_tokens: 1_000 * n,
  };
  return {
    surface: 'images',
    request: imageRequest(kind, n),
    answer: { created: 1, data: pictures(n), usage },
    usage: { inputFresh: 10, inputImage: 40, outputImage: 1_000 * n, images: n },
    terms: kind,
    asked: null,
  };
}

/** Servers that bill by the piece count no tokens. */
function piecesCall(kind: ImageKind, n: number): PricedCall {
  return {
    surface: 'images',
    request: { ...imageRequest(kind, n), response_format: 'b64_json' },
    answer: { created: 1, data: pictures(n) },
    usage: { images: n },
    terms: kind,
    asked: null,
  };
}

/** The answer's word on its images counts: `auto` is nobody's size. */
function namedCall(kind: ImageKind, n: number): PricedCall {
  const told = { size: '1024x1024', quality: 'medium' };
  const usage = {
    input_tokens: 10,
    output_tokens: 900,
    output_tokens_details: { text_tokens: 100, image_tokens: 800 },
  };
  return {
    surface: 'images',
    request: { ...imageRequest(kind, n), background: 'opaque' },
    answer: { created: 1, ...told, data: pictures(n), usage },
    usage: { inputFresh: 10, output: 100, outputImage: 800, images: n },
    terms: told,
    asked: null,
  };
}

function callsOf(
  make: (terms: Terms, used: Used) => PricedCall,
  terms: readonly Terms[],
  usedOf: (input: number) => readonly Used[],
): readonly PricedCall[] {
  return terms.flatMap((each) => sizes.flatMap((input) => usedOf(input).map((used) => make(each, used))));
}

export const pricedCalls: readonly PricedCall[] = [
  ...callsOf(chatCall, wordTiers, chatUsed),
  ...callsOf(responsesCall, wordTiers, responsesUsed),
  ...callsOf(messagesCall, messagesTerms, messagesUsed),
  ...callsOf(nativeCall, nativeTerms, nativeUsed),
  ...imagesCalls(),
];
