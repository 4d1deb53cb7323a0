import type { UpstreamRefusal } from '../protocol.ts';
import { refusalOf } from '../refusal.ts';
import { isRecord } from '../wire-values.ts';
import type { EventWalk } from './event-walk.ts';
import type { ResponseWalk } from './response-walk.ts';

/** The error of a response that failed, which may keep silent about why. */
export function refusalInResponse(response: ResponseWalk | null): UpstreamRefusal {
  return refusalOf({ error: response?.error ?? silentFailure }, '');
}

const silentFailure = { code: 'server_error', message: 'the response failed without a reason' };

/** The error of an event in either spelling: under `error`, or in the event itself, whose type is not the error's. */
export function refusalInEvent(event: EventWalk): UpstreamRefusal {
  if (event.hasError) return refusalOf({ error: event.error }, 'an error without words');
  const { value } = event;
  const words = isRecord(value) ? { ...value, type: null } : value;
  return refusalOf(words, JSON.stringify(value) ?? '');
}
