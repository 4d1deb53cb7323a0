import { totalInput, type Usage } from '../../usage.ts';

/** The wire's `usageMetadata`: the prompt includes what the cache read and wrote, candidates exclude thoughts. */
export function writeUsage(usage: Usage): object {
  const prompt = totalInput(usage);
  const thoughts = Math.min(usage.outputReasoning, usage.output);
  const text = usage.output - thoughts;
  const candidates = text + usage.outputAudio + usage.outputImage;
  return {
    promptTokenCount: prompt,
    ...counted('cachedContentTokenCount', usage.inputCacheRead),
    candidatesTokenCount: candidates,
    ...counted('thoughtsTokenCount', thoughts),
    totalTokenCount: prompt + candidates + thoughts,
    ...detailed('promptTokensDetails', {
      TEXT: prompt - usage.inputAudio - usage.inputImage,
      AUDIO: usage.inputAudio,
      IMAGE: usage.inputImage,
    }),
    ...detailed('candidatesTokensDetails', {
      TEXT: text,
      AUDIO: usage.outputAudio,
      IMAGE: usage.outputImage,
    }),
  };
}

/** Zero is left out. */
function counted(name: string, tokens: number): object {
  return tokens === 0 ? {} : { [name]: tokens };
}

function detailed(name: string, byModality: Readonly<Record<string, number>>): object {
  const details = Object.entries(byModality)
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
  return details.length === 0 ? {} : { [name]: details };
}
