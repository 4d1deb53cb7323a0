import type { TranslationTarget } from '../codec.ts';
import type { Prefill } from '../request.ts';

/** How the target goes on from the assistant's words at the end of a request; null where it takes them for an answer that is whole. */
export function prefillOf(
  { upstreamModel, dialect }: Pick<TranslationTarget, 'upstreamModel' | 'dialect'>,
  protocolId: string,
): Prefill | null {
  const prefill = dialect.prefill[protocolId];
  return prefill?.models.some((beginning) => upstreamModel.startsWith(beginning)) === true ? prefill : null;
}
