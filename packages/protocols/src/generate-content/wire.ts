import type { Surface } from '../turn.ts';
import { type FinishReason, readFinishReason } from '../turn-event.ts';
import { byWord, isRecord, recordOf, type WireRecord } from '../wire-values.ts';

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
  'serviceTier',
  'service_tier',
] as const;

export type RequestMember = (typeof requestMembers)[number];

export type ConfigMember =
  | 'maxOutputTokens'
  | 'candidateCount'
  | 'responseMimeType'
  | 'schema'
  | 'responseModalities'
  | 'thinkingConfig';

/** Members of `generationConfig` that are read, by all of their spellings. */
export const configMembers: ReadonlyMap<string, ConfigMember> = byWord({
  maxOutputTokens: 'maxOutputTokens max_output_tokens',
  candidateCount: 'candidateCount candidate_count',
  responseMimeType: 'responseMimeType response_mime_type',
  schema: `
    responseSchema response_schema responseJsonSchema response_json_schema _responseJsonSchema`,
  responseModalities: 'responseModalities response_modalities',
  thinkingConfig: 'thinkingConfig thinking_config',
});

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

export const candidateMembers = ['content', 'finishReason', 'index', 'groundingMetadata'] as const;

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
export const finishReasons: ReadonlyMap<string, FinishReason> = byWord({
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': `
    SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII JAILBREAK MODEL_ARMOR
    IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION`,
  error: `
    LANGUAGE OTHER MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS
    NO_IMAGE IMAGE_OTHER`,
});

/** Why an answer ended, as the canonical form has it. Calls end with an ordinary stop here. */
export function readFinishWord(raw: string | null, hasCalls: boolean): FinishReason {
  const reason = raw === null ? 'unknown' : (finishReasons.get(raw) ?? readFinishReason(raw));
  return hasCalls && (reason === 'stop' || reason === 'unknown') ? 'tool-calls' : reason;
}

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  unknown: 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  refusal: 'SAFETY',
  error: 'OTHER',
};

export function finishWord(reason: FinishReason): string {
  return words[reason];
}

/**
 * The members of an object under their camelCase names: callers of this protocol may write them in snake_case as well.
 * Their values stay as they are.
 */
export function inCamelCase(wire: unknown): WireRecord {
  const record = recordOf(wire);
  const names = Object.keys(record);
  if (!names.some((name) => name.includes('_'))) return record;
  return Object.fromEntries(names.map((name) => [camelCase(name), record[name]]));
}

/** The member as the caller spells it. */
export function spelledBy(wire: unknown, name: string): string {
  const record = recordOf(wire);
  if (name in record) return name;
  return Object.keys(record).find((own) => camelCase(own) === name) ?? name;
}

/** An underscore that begins a name is part of it. */
function camelCase(name: string): string {
  return name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A list, or in its place its only element, which this protocol's JSON allows everywhere. */
export function elementsOf(wire: unknown): readonly unknown[] {
  if (Array.isArray(wire)) return wire;
  return isRecord(wire) ? [wire] : [];
}

/**
 * A model's understanding of this protocol, by the version in its name (`…-2.5-flash`). The protocol has no other way to
 * tell; a name without a version is taken for one of the newer models.
 */
export interface ModelGeneration {
  /** Schemas may be JSON Schema itself (`parametersJsonSchema`), and calls may be held to it (`VALIDATED`). */
  readonly knowsJsonSchema: boolean;
  /** Thinking is set by words. All of them know budgets. */
  readonly knowsThinkingLevels: boolean;
}

const version = /-(\d+)(?:\.(\d+))?(?=[-:@+,]|$)/;

export function generationOf(upstreamModel: string): ModelGeneration {
  const [, major, minor = '0'] = version.exec(upstreamModel) ?? [];
  if (major === undefined) return { knowsJsonSchema: true, knowsThinkingLevels: false };
  const number = Number(major) + Number(minor) / 10;
  return { knowsJsonSchema: number >= 2.5, knowsThinkingLevels: number >= 3 };
}

export const generateContentSurface: Surface = {
  id: 'generate-content',
  enforcesSchemas: false,
  media: {
    image: 'contents[].parts[].inlineData',
    audio: 'contents[].parts[].inlineData',
    file: 'contents[].parts[].inlineData',
  },
  sealed: 'contents[].parts[].thoughtSignature',
  arguments: 'contents[].parts[].functionCall.args',
  toolChoice: 'toolConfig.functionCallingConfig',
  traits: {
    citations: 'contents[].parts[].text',
    'cache-mark': 'cachedContent',
    'image-detail': 'mediaResolution',
    filename: 'contents[].parts[].displayName',
    'media-name': 'contents[].parts[].displayName',
    'call-seal': 'contents[].parts[].thoughtSignature',
  },
};
