import type { Need } from '../inbound-request.ts';

/** Members of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'tools',
  'functions',
  'response_format',
  'modalities',
  'audio',
  'prompt_cache_key',
  'safety_identifier',
  'user',
] as const;

export type RequestMember = (typeof requestMembers)[number];

/** Types of message parts that not every model can read. */
export const partNeeds = {
  image_url: 'image-input',
  input_audio: 'audio-input',
  file: 'file-input',
} as const satisfies Record<string, Need>;

/** Members of an answer or a chunk that are read, at any level; everything else is skipped. */
export const answerMembers = ['choices', 'usage', 'error', 'model', 'x_groq', 'obfuscation'] as const;
export const choiceMembers = ['delta', 'message', 'finish_reason', 'usage', 'index'] as const;
/** What a delta may carry without producing anything. Any other text, list or object in it is output, known or not. */
export const metadataMembers = [
  'role',
  'name',
  'id',
  'type',
  'object',
  'status',
  'prefix',
  'index',
  'created',
  'model',
  'finish_reason',
  'stop_reason',
  'metadata',
] as const;
/** Output of a kind that the finish reason may keep silent about. */
export const deltaMembers = ['refusal', 'tool_calls', 'function_call'] as const;
export type DeltaMember = (typeof deltaMembers)[number];

/** Strings inside tool calls, sound and lists of parts that the model wrote; ids, types and signatures it did not. */
export const textMembers = [
  'arguments',
  'content',
  'input',
  'name',
  'refusal',
  'summary',
  'text',
  'thinking',
  'transcript',
] as const;
