import type { FinishReason } from '../finish-reason.ts';

/** Members of a request that are read, in both spellings; one that is given twice is refused. */
export const requestMembers = [
  'model',
  'systemInstruction',
  'system_instruction',
  'contents',
  'tools',
  'requests',
  'generationConfig',
  'generation_config',
  'cachedContent',
  'cached_content',
  'generateContentRequest',
  'generate_content_request',
] as const;

export type RequestMember = (typeof requestMembers)[number];

export type ConfigMember =
  | 'maxOutputTokens'
  | 'candidateCount'
  | 'responseMimeType'
  | 'schema'
  | 'responseModalities';

/** Members of `generationConfig` that are read, by all of their spellings. */
export const configMembers: ReadonlyMap<string, ConfigMember> = new Map<string, ConfigMember>([
  ['maxOutputTokens', 'maxOutputTokens'],
  ['max_output_tokens', 'maxOutputTokens'],
  ['candidateCount', 'candidateCount'],
  ['candidate_count', 'candidateCount'],
  ['responseMimeType', 'responseMimeType'],
  ['response_mime_type', 'responseMimeType'],
  ['responseSchema', 'schema'],
  ['response_schema', 'schema'],
  ['responseJsonSchema', 'schema'],
  ['response_json_schema', 'schema'],
  ['_responseJsonSchema', 'schema'],
  ['responseModalities', 'responseModalities'],
  ['response_modalities', 'responseModalities'],
]);

/** Members of an answer, whole or a chunk. */
export const answerMembers = [
  'candidates',
  'usageMetadata',
  'promptFeedback',
  'modelVersion',
  'error',
] as const;

/** Counts whose presence tells what a usage covers. */
export const usageMembers = [
  'promptTokenCount',
  'totalTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const;

export const candidateMembers = ['content', 'finishReason', 'index'] as const;

/** Members of a part that are about it, and no output of their own. */
const partMetadata = [
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
] as const;

/** Members of a part that are output, where reading them differs from reading the rest. */
export const partMembers = ['text', 'inlineData', 'functionCall', ...partMetadata] as const;

/** Why servers of this protocol stopped, and why they did not begin (`blockReason`). Capitals as on the wire. */
export const finishReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['JAILBREAK', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
  ['LANGUAGE', 'error'],
  ['OTHER', 'error'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['MALFORMED_RESPONSE', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['TOO_MANY_TOOL_CALLS', 'error'],
  ['NO_IMAGE', 'error'],
  ['IMAGE_OTHER', 'error'],
]);
