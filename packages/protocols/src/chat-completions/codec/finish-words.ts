import { type FinishReason, readFinishReason } from '../../finish-reason.ts';
import { unreachable } from '../../result.ts';

/** What an answer holds, which knows better than the word it ends with. */
export interface AnswerKind {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Why an answer of an upstream's ended; servers say `stop` for calls and refusals, too, and some say nothing. */
export function finishReasonOf(raw: string | null, kind: AnswerKind): FinishReason {
  const reason = raw === null ? 'stop' : readFinishReason(raw);
  if (reason !== 'stop' && reason !== 'tool-calls') return reason;
  if (kind.hasCalls) return 'tool-calls';
  return kind.hasRefusal ? 'refusal' : 'stop';
}

/** The protocol's word for why an answer ended. */
export function finishWordOf(reason: FinishReason, kind: AnswerKind): string {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
    case 'error':
    case 'unknown':
      return kind.hasCalls ? 'tool_calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'content_filter';
    case 'refusal':
      // A refusal in words is told by the message itself.
      return kind.hasRefusal ? 'stop' : 'content_filter';
    default:
      return unreachable(reason);
  }
}
