import type { AccountRefusal } from '../../admin/accounts.ts';
import { type ConsoleProblem, invalid, problem } from './frame/answer.ts';

export function notThere(message: string): ConsoleProblem {
  return problem('not_found', message, [{ field: 'id', message }]);
}

/** A refusal of a use case in the words of the console. */
export function problemOf(refusal: AccountRefusal): ConsoleProblem {
  switch (refusal.kind) {
    case 'unknown':
      return notThere(refusal.message);
    case 'conflict':
      return problem('conflict', refusal.message, [{ field: refusal.member, message: refusal.message }]);
    case 'invalid':
      return invalid(refusal.mistakes.map(({ path, message }) => ({ field: path.join('.'), message })));
  }
}
