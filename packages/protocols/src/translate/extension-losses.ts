import type { Fault } from '../error.ts';
import type { ProtocolId } from '../inbound-request.ts';
import { changed, dropped, type Loss } from '../loss.ts';
import { fail, type Result, succeed } from '../result.ts';
import type { Turn } from '../turn.ts';
import { unsupported } from './setting-losses.ts';

/** The losses of what only the caller's protocol has, at a target of another one. A fault where one may not be lost. */
export function extensionLosses(turn: Turn, target: ProtocolId): Result<readonly Loss[], Fault> {
  if (turn.surface === target) return succeed([]);
  const refused = turn.extensions.find(({ elsewhere }) => elsewhere === 'refuse');
  if (refused !== undefined) return fail(unsupported(refused.field));
  return succeed(
    turn.extensions.map(({ field, elsewhere }) =>
      elsewhere === 'text' ? changed(field, 'sent as text') : dropped(field),
    ),
  );
}
