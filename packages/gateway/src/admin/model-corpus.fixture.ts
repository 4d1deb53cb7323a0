import type { ProtocolId, ReasoningEffort } from '@headgate/protocols';
import type { SamplingParameter } from '../catalogue/model-facts.ts';
import { type CorpusSchema, corpusSchemas } from './corpus-schemas.fixture.ts';

/*
 * Requests as callers of each surface write them, from the vendors' references: every spelling of thought, alone, beside limits, beside
 * each sampling parameter and beside schemas of the answer. What a request means is said beside it, so that no reader of ours is believed.
 */

export type Surface = Exclude<ProtocolId, 'images'>;

/** The words of a caller about thought. At most one of them is set. */
export interface Wish {
  readonly effort?: ReasoningEffort;
  readonly budget?: number;
  /** It is to think, by as much as the model likes. */
  readonly isOn?: true;
  readonly isOff?: true;
}

export interface Sampled {
  readonly parameter: SamplingParameter;
  /** The member, as losses name it. */
  readonly field: string;
}

export interface CorpusRequest {
  readonly surface: Surface;
  readonly body: object;
  readonly wish: Wish | null;
  readonly limit: number | null;
  readonly sampled: readonly Sampled[];
  /** True where a picture is shown. */
  readonly hasPicture: boolean;
  readonly schema: AskedSchema | null;
}

/** A schema that the answer is to be held to. */
export interface AskedSchema extends CorpusSchema {
  /** The member, as losses and refusals name it. */
  readonly field: string;
}

type Members = Readonly<Record<string, unknown>>;

/** One thing that a caller may write, and what it means. */
interface Piece {
  readonly members: Members;
  readonly wish?: Wish;
  readonly limit?: number;
  readonly sampled?: Sampled;
  readonly schema?: AskedSchema;
}

/** One surface's words. */
interface Words {
  readonly surface: Surface;
  readonly conversation: Members;
  readonly picture: Members;
  /** Puts the members to their place. */
  place(members: Members): Members;
  readonly thoughts: readonly Piece[];
  readonly limits: readonly Piece[];
  readonly sampling: readonly Piece[];
  readonly schemas: readonly Piece[];
}

const thought = (members: Members, wish: Wish): Piece => ({ members, wish });
const limited = (name: string, tokens: number): Piece => ({ members: { [name]: tokens }, limit: tokens });
const sampled = (parameter: SamplingParameter, field: string, members: Members): Piece => ({
  members,
  sampled: { parameter, field },
});

const held = (field: string, members: (schema: object) => Members): readonly Piece[] =>
  corpusSchemas.map((each) => ({ members: members(each.schema), schema: { ...each, field } }));

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const wishOf = (effort: ReasoningEffort): Wish => (effort === 'none' ? { isOff: true } : { effort });

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const question = 'What follows from this?';

const chat: Words = {
  surface: 'chat-completions',
  conversation: { messages: [{ role: 'user', content: question }] },
  picture: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: question },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
        ],
      },
    ],
  },
  place: (members) => members,
  thoughts: [
    ...efforts.map((effort) => thought({ reasoning_effort: effort }, wishOf(effort))),
    ...efforts.map((effort) => thought({ reasoning: { effort } }, wishOf(effort))),
    thought({ reasoning: { max_tokens: 3_000 } }, { budget: 3_000 }),
    thought({ reasoning: { enabled: true } }, { isOn: true }),
    thought({ reasoning: { enabled: false } }, { isOff: true }),
    thought({ thinking: { type: 'enabled', budget_tokens: 20_000 } }, { budget: 20_000 }),
    thought({ thinking: { type: 'enabled' } }, { isOn: true }),
    thought({ thinking: { type: 'disabled' } }, { isOff: true }),
    thought({ enable_thinking: true }, { isOn: true }),
    thought({ enable_thinking: false }, { isOff: true }),
    thought({ enable_thinking: true, thinking_budget: 700 }, { budget: 700 }),
  ],
  limits: [
    limited('max_completion_tokens', 300),
    limited('max_tokens', 6_000),
    limited('max_completion_tokens', 400_000),
  ],
  sampling: [
    sampled('temperature', 'temperature', { temperature: 0.3 }),
    sampled('top_p', 'top_p', { top_p: 0.5 }),
    sampled('top_k', 'top_k', { top_k: 20 }),
    sampled('frequency_penalty', 'frequency_penalty', { frequency_penalty: 0.4 }),
    sampled('presence_penalty', 'presence_penalty', { presence_penalty: -0.4 }),
    sampled('stop', 'stop', { stop: ['END'] }),
    sampled('seed', 'seed', { seed: 7 }),
    sampled('logprobs', 'logprobs', { logprobs: true, top_logprobs: 2 }),
  ],
  schemas: held('response_format', (schema) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
  })),
};

const responses: Words = {
  surface: 'responses',
  conversation: { input: question },
  picture: {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: question },
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
        ],
      },
    ],
  },
  place: (members) => members,
  thoughts: efforts.map((effort) => thought({ reasoning: { effort, summary: 'auto' } }, wishOf(effort))),
  limits: [300, 6_000, 40_000, 400_000].map((tokens) => limited('max_output_tokens', tokens)),
  sampling: [
    sampled('temperature', 'temperature', { temperature: 0.3 }),
    sampled('top_p', 'top_p', { top_p: 0.5 }),
    sampled('frequency_penalty', 'frequency_penalty', { frequency_penalty: 0.4 }),
    sampled('presence_penalty', 'presence_penalty', { presence_penalty: -0.4 }),
    sampled('logprobs', 'top_logprobs', { top_logprobs: 2 }),
  ],
  schemas: held('text.format', (schema) => ({
    text: { format: { type: 'json_schema', name: 'x', strict: true, schema } },
  })),
};

const budgeted = (budget: number): Piece =>
  thought({ thinking: { type: 'enabled', budget_tokens: budget } }, { budget });
const adaptive = (effort: ReasoningEffort): Piece =>
  thought({ thinking: { type: 'adaptive' }, output_config: { effort } }, { effort });
const weighed = (effort: ReasoningEffort): Piece => thought({ output_config: { effort } }, { effort });
const laterEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

const messages: Words = {
  surface: 'messages',
  // This protocol insists on a limit.
  conversation: { messages: [{ role: 'user', content: question }], max_tokens: 32_000 },
  picture: {
    max_tokens: 500,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          { type: 'text', text: question },
        ],
      },
    ],
  },
  place: (members) => members,
  thoughts: [
    thought({ thinking: { type: 'disabled' } }, { isOff: true }),
    thought({ thinking: { type: 'adaptive' } }, { isOn: true }),
    ...[1_024, 2_000, 6_000, 8_192, 12_500, 20_000, 31_000].map(budgeted),
    ...laterEfforts.map(adaptive),
    ...laterEfforts.map(weighed),
  ],
  limits: [32_500, 64_000, 400_000].map((tokens) => limited('max_tokens', tokens)),
  sampling: [
    sampled('temperature', 'temperature', { temperature: 0.3 }),
    sampled('top_p', 'top_p', { top_p: 0.5 }),
    sampled('top_k', 'top_k', { top_k: 20 }),
    sampled('stop', 'stop_sequences', { stop_sequences: ['END'] }),
  ],
  schemas: held('output_config.format', (schema) => ({
    output_config: { format: { type: 'json_schema', schema } },
  })),
};

const config = 'generationConfig';
const level = (thinkingLevel: string, effort: ReasoningEffort): Piece =>
  thought({ thinkingConfig: { thinkingLevel } }, { effort });
const thinkingBudget = (tokens: number, wish: Wish = { budget: tokens }): Piece =>
  thought({ thinkingConfig: { thinkingBudget: tokens } }, wish);

const native: Words = {
  surface: 'generate-content',
  conversation: { contents: [{ role: 'user', parts: [{ text: question }] }] },
  picture: {
    contents: [
      { role: 'user', parts: [{ text: question }, { inlineData: { mimeType: 'image/png', data: pixel } }] },
    ],
  },
  place: (members) => (Object.keys(members).length === 0 ? {} : { [config]: members }),
  thoughts: [
    thinkingBudget(0, { isOff: true }),
    thinkingBudget(-1, { isOn: true }),
    ...[128, 1_024, 2_048, 5_000, 12_288, 24_576, 32_768].map((tokens) => thinkingBudget(tokens)),
    level('MINIMAL', 'minimal'),
    level('LOW', 'low'),
    level('medium', 'medium'),
    level('HIGH', 'high'),
  ],
  limits: [300, 6_000, 40_000, 400_000].map((tokens) => limited('maxOutputTokens', tokens)),
  sampling: [
    sampled('temperature', `${config}.temperature`, { temperature: 0.3 }),
    sampled('top_p', `${config}.topP`, { topP: 0.5 }),
    sampled('top_k', `${config}.topK`, { topK: 20 }),
    sampled('frequency_penalty', `${config}.frequencyPenalty`, { frequencyPenalty: 0.4 }),
    sampled('presence_penalty', `${config}.presencePenalty`, { presencePenalty: -0.4 }),
    sampled('stop', `${config}.stopSequences`, { stopSequences: ['END'] }),
    sampled('seed', `${config}.seed`, { seed: 7 }),
    sampled('logprobs', `${config}.responseLogprobs`, { responseLogprobs: true, logprobs: 2 }),
  ],
  schemas: held(`${config}.responseJsonSchema`, (responseJsonSchema) => ({
    responseMimeType: 'application/json',
    responseJsonSchema,
  })),
};

function request(words: Words, ...pieces: readonly Piece[]): CorpusRequest {
  const members = pieces.reduce<Members>((all, piece) => withMembers(all, piece.members), {});
  const base = words.surface === 'messages' ? 32_000 : null;
  return {
    surface: words.surface,
    body: { model: 'm', ...words.conversation, ...words.place(members) },
    wish: pieces.find(({ wish }) => wish !== undefined)?.wish ?? null,
    limit: pieces.find(({ limit }) => limit !== undefined)?.limit ?? base,
    sampled: pieces.flatMap((piece) => piece.sampled ?? []),
    hasPicture: false,
    schema: pieces.find(({ schema }) => schema !== undefined)?.schema ?? null,
  };
}

/** Two pieces may stand in one member: an effort and a schema do, in some protocols. */
function withMembers(all: Members, more: Members): Members {
  const joined = Object.entries(more).map(([name, value]): [string, unknown] => {
    const before = all[name];
    return [name, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return { ...all, ...Object.fromEntries(joined) };
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && !Array.isArray(value);

/** Every member alone, each thought beside each limit, and each sampling parameter and schema beside some thoughts and each limit. */
function requestsOf(words: Words): readonly CorpusRequest[] {
  const { surface, picture, thoughts, limits, sampling, schemas } = words;
  const some = thoughts.filter((_, index) => index % 4 === 0);
  return [
    request(words),
    ...[...thoughts, ...limits, ...sampling, ...schemas].map((piece) => request(words, piece)),
    ...thoughts.flatMap((piece) => limits.map((limit) => request(words, piece, limit))),
    ...[...sampling, ...schemas].flatMap((other) =>
      [...some, ...limits].map((piece) => request(words, piece, other)),
    ),
    {
      surface,
      body: { model: 'm', ...picture },
      wish: null,
      limit: surface === 'messages' ? 500 : null,
      sampled: [],
      hasPicture: true,
      schema: null,
    },
  ];
}

export const corpus: readonly CorpusRequest[] = [chat, responses, messages, native].flatMap(requestsOf);

/** Well-known models, as their vendors name them, by the vendors' providers. */
export const corpusModels: readonly (readonly [provider: string, model: string])[] = [
  ['openai', 'gpt-4o'],
  ['openai', 'gpt-4.1-mini'],
  ['openai', 'gpt-5'],
  ['openai', 'gpt-5-chat-latest'],
  ['openai', 'gpt-5-pro'],
  ['openai', 'gpt-5.1'],
  ['openai', 'gpt-5.5'],
  ['openai', 'gpt-6-sol'],
  ['openai', 'o3'],
  ['openai', 'o4-mini'],
  ['anthropic', 'claude-3-5-haiku'],
  ['anthropic', 'claude-3-7-sonnet'],
  ['anthropic', 'claude-opus-4-1'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-opus-4-6'],
  ['anthropic', 'claude-opus-5'],
  ['anthropic', 'claude-fable-5'],
  ['google', 'gemini-2.5-pro'],
  ['google', 'gemini-2.5-flash-lite'],
  ['google', 'gemini-3-pro-preview'],
  ['google', 'gemini-3-flash-preview'],
  ['google', 'gemini-4-argon'],
  ['deepseek', 'deepseek-chat'],
  ['deepseek', 'deepseek-reasoner'],
  ['deepseek', 'deepseek-v4-pro'],
  ['mistral', 'mistral-large-4'],
  ['mistral', 'mistral-medium-latest'],
  ['mistral', 'codestral-latest'],
  ['xai', 'grok-4.5'],
  ['xai', 'grok-4.3'],
  ['xai', 'grok-code-fast-1'],
  ['alibaba', 'qwen-plus'],
  ['alibaba', 'qwen3.8-max'],
  ['alibaba', 'qwen3-coder-plus'],
  ['moonshot', 'kimi-k2.6'],
  ['moonshot', 'kimi-k3'],
  ['zai', 'glm-5.2'],
  ['zai', 'glm-5.3'],
  ['minimax', 'MiniMax-M2.5'],
];
