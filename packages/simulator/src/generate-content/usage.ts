import type { Rendering } from '../protocol.ts';
import { type Modality, modalityOf, partTokens, promptParts } from './prompt.ts';

/** What was produced up to a chunk, in tokens. */
export interface Produced {
  /** Without the thoughts. */
  readonly candidates: number;
  readonly thoughts: number;
}

export function producedInAll({ answer }: Rendering): Produced {
  const { completion, reasoning } = answer.usage;
  return { candidates: completion - reasoning, thoughts: reasoning };
}

/** Counts of zero are left out, as the protocol does. The prompt includes what the cache read; candidates exclude thoughts. */
export function encodeUsage(rendering: Rendering, { candidates, thoughts }: Produced) {
  const { prompt, cached } = rendering.answer.usage;
  return {
    promptTokenCount: prompt,
    ...positive('candidatesTokenCount', candidates),
    totalTokenCount: prompt + candidates + thoughts,
    ...positive('cachedContentTokenCount', cached),
    promptTokensDetails: promptDetails(rendering),
    ...(cached > 0 ? { cacheTokensDetails: [detail('TEXT', cached)] } : {}),
    ...(candidates > 0 ? { candidatesTokensDetails: [detail('TEXT', candidates)] } : {}),
    ...positive('thoughtsTokenCount', thoughts),
  };
}

/** The prompt's tokens by kind. They add up to the prompt, a stated one included: text has what media leave of it. */
export function promptDetails({ answer, body }: Rendering) {
  const counts = new Map<Modality, number>();
  let left = answer.usage.prompt;
  for (const part of promptParts(body)) {
    const modality = modalityOf(part);
    if (modality === 'TEXT') continue;
    const tokens = Math.min(partTokens(part), left);
    counts.set(modality, (counts.get(modality) ?? 0) + tokens);
    left -= tokens;
  }
  const media = [...counts].map(([modality, tokens]) => detail(modality, tokens));
  return left > 0 ? [detail('TEXT', left), ...media] : media;
}

function detail(modality: Modality, tokenCount: number) {
  return { modality, tokenCount };
}

function positive(name: string, count: number) {
  return count > 0 ? { [name]: count } : {};
}
