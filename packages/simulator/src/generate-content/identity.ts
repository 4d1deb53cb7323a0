import type { Choice, Finish } from '../answer/answer.ts';
import type { Rendering } from '../protocol.ts';

/** The members that end every answer and every chunk of one. */
export function identityOf({ ask, command, stamp }: Rendering) {
  return { modelVersion: command.served ?? ask.model, responseId: `sim${padded(stamp.sequence)}` };
}

/** Unique in one simulator: its request, the choice and the call's number. */
export function callId({ stamp }: Rendering, choice: number, call: number): string {
  return `call_sim${padded(stamp.sequence)}_${choice}_${call}`;
}

/** Opaque to everyone but the simulator, and base64 as the protocol has it. Undefined where nothing was thought. */
export function signatureOf({ answer, stamp }: Rendering): string | undefined {
  return answer.usage.reasoning > 0 ? `c2ltdWxhdGVk${padded(stamp.sequence)}+/==` : undefined;
}

const finishWords: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  // Calls are an ordinary stop here.
  'tool-calls': 'STOP',
};

/** Undefined leaves the member out, as the protocol does with what is not set. */
export function finishWord({ command }: Rendering, { tokens, finish }: Choice): string | undefined {
  if (command.finish !== undefined) return command.finish ?? undefined;
  const isRefused = finish !== 'length' && tokens.some((token) => token.kind === 'refusal');
  return isRefused ? 'SAFETY' : finishWords[finish];
}

/** Whether nothing of the prompt was answered: it is blocked before there is a candidate. */
export function isBlocked({ answer, command }: Rendering): boolean {
  return command.refusal && answer.choices.every((choice) => choice.tokens.length === 0);
}

function padded(sequence: number): string {
  return String(sequence).padStart(12, '0');
}
