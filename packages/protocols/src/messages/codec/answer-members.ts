import type { WriterContext } from '../../codec.ts';
import { readFinishReason } from '../../finish-reason.ts';
import { unreachable } from '../../result.ts';
import { markSealed } from '../../translate/sealed-mark.ts';
import type { Sealed } from '../../turn.ts';
import type { Finish, TurnAnswer } from '../../turn-event.ts';
import { noUsage, type Usage } from '../../usage.ts';
import type { WireRecord } from '../../wire-values.ts';

/** What every message says of itself, whole or as it begins. */
export function identityMembers(
  { answerId, model }: Pick<TurnAnswer, 'answerId' | 'model'>,
  { traceId, turn }: WriterContext,
): WireRecord {
  return {
    id: answerId?.startsWith('msg_') ? answerId : `msg_${traceId}`,
    type: 'message',
    role: 'assistant',
    model: model ?? turn.model,
  };
}

/** Why it stopped. A call of a tool is one whatever the upstream says. */
export function stopMembers(finish: Finish, hasCall: boolean): WireRecord {
  const stop_reason = stopReasonOf(finish, hasCall);
  return {
    stop_reason,
    stop_sequence: finish.stopSequence,
    stop_details: stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
  };
}

/** This protocol's own finer words for the same. */
const finerReasons: ReadonlySet<string> = new Set(['pause_turn', 'model_context_window_exceeded']);

function stopReasonOf({ reason, rawReason, stopSequence }: Finish, hasCall: boolean): string {
  const isOwn = rawReason !== null && finerReasons.has(rawReason) && readFinishReason(rawReason) === reason;
  if (isOwn) return rawReason;
  switch (reason) {
    case 'stop':
    case 'error':
    case 'unknown':
      if (hasCall) return 'tool_use';
      return stopSequence === null ? 'end_turn' : 'stop_sequence';
    case 'length':
      return 'max_tokens';
    case 'tool-calls':
      return 'tool_use';
    case 'content-filter':
    case 'refusal':
      return 'refusal';
    default:
      return unreachable(reason);
  }
}

/** The input in this protocol's parts, which exclude what the cache did. Sounds and pictures are input like any other. */
export function usageMembers(usage: Usage | null): WireRecord {
  const {
    inputFresh,
    inputAudio,
    inputImage,
    inputCacheRead,
    inputCacheWrite5m,
    inputCacheWrite1h,
    ...rest
  } = usage ?? noUsage;
  return {
    input_tokens: inputFresh + inputAudio + inputImage,
    cache_creation_input_tokens: inputCacheWrite5m + inputCacheWrite1h,
    cache_read_input_tokens: inputCacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: inputCacheWrite5m,
      ephemeral_1h_input_tokens: inputCacheWrite1h,
    },
    output_tokens: rest.output + rest.outputAudio + rest.outputImage,
    output_tokens_details: { thinking_tokens: rest.outputReasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
  };
}

/**
 * The signature of thoughts. Callers want one that is not empty, and keep it without looking into it; where there is none it
 * is the mark alone, of no origin, by which it is known and removed when it comes back.
 */
export function signatureOf(sealed: Sealed | null): string {
  return markSealed(sealed ?? { origin: 'none', data: '', form: 'signature' });
}
