import type { Step } from '../command/steps.ts';
import type { Ask } from './ask.ts';

/**
 * The step a conversation has come to: each call is over when its result has come back, and a text is the last.
 * Null once every step is over.
 */
export function nextStep(steps: readonly Step[], { toolResults }: Ask): Step | null {
  let resultsLeft = toolResults;
  for (const step of steps) {
    if (step.kind === 'say' || resultsLeft < step.calls.length) return step;
    resultsLeft -= step.calls.length;
  }
  return null;
}
