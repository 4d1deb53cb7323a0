import type { Effort, Modality } from '../../../packages/gateway/src/catalogue/model-facts.ts';

/** The word of one source about one model of one provider. A member that is missing is not spoken of. */
export interface Claim {
  readonly source: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** Tokens; several where a source's number may mean the prompt alone or prompt and answer together. */
  readonly context?: readonly number[] | undefined;
  readonly maxInput?: number | undefined;
  readonly maxOutput?: number | undefined;
  readonly thinks?: boolean | undefined;
  /** True when thinking cannot be switched off. */
  readonly always?: boolean | undefined;
  readonly efforts?: readonly Effort[] | undefined;
  readonly defaultEffort?: Effort | undefined;
  /** False when temperature, top_p and top_k are refused. */
  readonly samples?: boolean | undefined;
  readonly temperature?: boolean | undefined;
  readonly input?: readonly Modality[] | undefined;
  readonly output?: readonly Modality[] | undefined;
  readonly tools?: boolean | undefined;
  readonly structuredOutput?: boolean | undefined;
  readonly knowledge?: string | undefined;
  readonly released?: string | undefined;
  readonly deprecation?: string | undefined;
}

/** Reads what a source says of the models of one of its providers. */
export type ClaimReader = (directory: string, provider: string) => readonly Claim[];

/** Words that are no language models, whatever else a source says of them. */
export const noLanguageModel =
  /embed|^bge-|tts|transcri|whisper|moderation|realtime|rerank|-live|veo-|lyria|imagin|-asr|livetranslate|dall-e|sora|ocr|guard|classifier|speech|-audio|audio-|computer-use|container|search-api|translate|-mt-|robotics/i;

/** The date at the end of a dated version's name. */
export const versionDate = /-(20\d{2})-?(\d{2})-?(\d{2})$/;
