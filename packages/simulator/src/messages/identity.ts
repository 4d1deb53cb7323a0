import { onlyChoice } from '../answer/runs.ts';
import type { Rendering } from '../protocol.ts';

export function identityOf({ ask, command, stamp }: Rendering) {
  return {
    id: `msg_sim${padded(stamp.sequence)}`,
    type: 'message',
    role: 'assistant',
    model: command.served ?? ask.model,
  };
}

/** Unique in one simulator: its request and the call's number. */
export function callId({ stamp }: Rendering, call: number): string {
  return `toolu_sim${padded(stamp.sequence)}_${call}`;
}

/** Opaque to everyone but the simulator, and the same for the same request. */
export function signatureOf({ stamp }: Rendering): string {
  return `c2ltdWxhdGVk${padded(stamp.sequence)}+/==`;
}

/** Why the answer stopped, as the members that say so in a whole answer and in `message_delta`. */
export function stopMembers(rendering: Rendering) {
  const { command, answer } = rendering;
  const natural = stopReason(answer);
  const reason = command.finish === undefined ? natural : command.finish;
  const details = natural === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
  return { stop_reason: reason, stop_sequence: null, stop_details: details };
}

function stopReason(answer: Rendering['answer']): string {
  const { tokens, finish } = onlyChoice(answer);
  if (finish === 'length') return 'max_tokens';
  if (tokens.some((token) => token.kind === 'call')) return 'tool_use';
  return tokens.some((token) => token.kind === 'refusal') ? 'refusal' : 'end_turn';
}

function padded(sequence: number): string {
  return String(sequence).padStart(12, '0');
}
