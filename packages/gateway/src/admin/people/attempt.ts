import { fail, type Result } from '@headgate/protocols';
import type { PeopleRefusal } from './people-refusal.ts';
import type { PeopleTools } from './people-tools.ts';
import type { Guess } from './throttle.ts';

/** Lets somebody prove who they are, as often as the throttle lets them, and notes it where they could not. */
export async function attempt<Proven>(
  { throttle, refusals }: Pick<PeopleTools, 'throttle' | 'refusals'>,
  guess: Guess,
  prove: () => Promise<Result<Proven, PeopleRefusal>>,
): Promise<Result<Proven, PeopleRefusal>> {
  const waitMs = throttle.take(guess);
  if (waitMs !== null) {
    refusals.note(guess, 'throttled');
    return fail({ kind: 'throttled', retryAfterMs: waitMs });
  }
  const proven = await prove();
  if (proven.ok) throttle.forgive(guess);
  else if (proven.error.kind === 'wrong') refusals.note(guess, 'wrong');
  return proven;
}
