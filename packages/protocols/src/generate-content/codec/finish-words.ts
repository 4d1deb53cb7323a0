import { type FinishReason, readFinishReason } from '../../finish-reason.ts';
import { finishReasons } from '../wire.ts';

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
