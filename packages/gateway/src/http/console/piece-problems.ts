import type { HasSeen, PieceRefusal } from '../../admin/piecewise.ts';
import { type ConsoleProblem, invalid, problem } from './frame/answer.ts';

/** A refusal of a change of one thing in the words of the console. */
export function pieceProblem(refusal: PieceRefusal): ConsoleProblem {
  switch (refusal.kind) {
    case 'invalid':
      return invalid(refusal.mistakes);
    case 'unknown':
      return problem('not_found', refusal.message);
    case 'conflict':
      return problem('conflict', refusal.message, [{ field: refusal.field, message: refusal.message }]);
    case 'stale':
      return problem(
        'stale',
        'Somebody has changed it meanwhile: read it again, and repeat your change on that.',
      );
  }
}

/** The state that whoever asks has seen, by the `If-Match` of their request. */
export function seenBy(ifMatch: (version: unknown) => ConsoleProblem | null): HasSeen {
  return (form) => ifMatch(form) === null;
}
