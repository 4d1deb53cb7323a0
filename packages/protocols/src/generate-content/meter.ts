import { Remainder } from '../remainder.ts';
import { noUsage, type Usage } from '../usage.ts';
import { isRecord, tokenCount, type WireRecord } from '../wire-values.ts';

/**
 * Usage in parts that never overlap, from the wire's `usageMetadata`. Its prompt includes what the cache read and excludes
 * what tools put in; its candidates exclude thoughts; a count that is missing is zero. Null when there is no count in it.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const prompt = tokenCount(wire['promptTokenCount']);
  const total = tokenCount(wire['totalTokenCount']);
  const counted = tokenCount(wire['candidatesTokenCount']);
  if (prompt === null && total === null && counted === null) return null;
  const toolUse = tokenCount(wire['toolUsePromptTokenCount']) ?? 0;
  const thoughts = tokenCount(wire['thoughtsTokenCount']) ?? 0;
  const rest = Math.max(0, (total ?? 0) - (prompt ?? 0) - toolUse - thoughts);
  return {
    ...noUsage,
    ...readInput(wire, (prompt ?? 0) + toolUse),
    ...readOutput(wire, counted ?? rest, thoughts),
  };
}

/** Films and documents are priced as text; what the cache read has one price, whatever it is. */
function readInput(wire: WireRecord, input: number) {
  const fresh = (modality: string): number =>
    ofModality(wire['promptTokensDetails'], modality) +
    ofModality(wire['toolUsePromptTokensDetails'], modality) -
    ofModality(wire['cacheTokensDetails'], modality);
  const rest = new Remainder(input);
  const inputCacheRead = rest.take(tokenCount(wire['cachedContentTokenCount']));
  const inputAudio = rest.take(Math.max(0, fresh('AUDIO')));
  const inputImage = rest.take(Math.max(0, fresh('IMAGE')));
  return { inputFresh: rest.left, inputCacheRead, inputAudio, inputImage };
}

function readOutput(wire: WireRecord, candidates: number, thoughts: number) {
  const rest = new Remainder(candidates);
  const outputAudio = rest.take(ofModality(wire['candidatesTokensDetails'], 'AUDIO'));
  const outputImage = rest.take(ofModality(wire['candidatesTokensDetails'], 'IMAGE'));
  return { output: rest.left + thoughts, outputReasoning: thoughts, outputAudio, outputImage };
}

function ofModality(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isRecord)
    .filter((detail) => detail['modality'] === modality)
    .reduce((sum, detail) => sum + (tokenCount(detail['tokenCount']) ?? 0), 0);
}
