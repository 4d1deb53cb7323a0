import { totalInput, totalOutput } from '@headgate/protocols';
import type { Target } from '../../catalogue/catalogue.ts';
import type { Gateway } from '../../ports/gateway.ts';
import type { AttemptRecord } from '../outcomes.ts';

/** The byte order mark in UTF-8. */
const mark = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The same without a mark before its first byte, by which clients miss the first event or refuse the whole. */
export function unmarked(bytes: Uint8Array): Uint8Array {
  return mark.every((byte, at) => bytes[at] === byte) ? bytes.subarray(mark.length) : bytes;
}

/** The first bytes of a stream without a mark; `opening` holds those of them that may still become one. */
export function openingOf(first: Uint8Array) {
  const mayBeMark = first.length < mark.length && first.every((byte, at) => byte === mark[at]);
  if (mayBeMark) return { bytes: nothing, opening: new Uint8Array(first), isMarked: false };
  const bytes = unmarked(first);
  return { bytes, opening: nothing, isMarked: bytes.length < first.length };
}

const nothing = new Uint8Array(0);

/** Edits of an answer on its caller's behalf, by name; `name` is added once. */
export function mendedBy(mends: readonly string[], name: string): readonly string[] {
  return mends.includes(name) ? mends : [...mends, name];
}

export function mendsWith(mends: readonly string[], skipped: number): readonly string[] {
  return skipped === 0 ? mends : [...mends, `frames-skipped=${skipped}`];
}

/** Tells the operator of an answer in whose midst there were frames that are none. */
export function alertSkipped(mends: readonly string[], target: Target, { observer }: Gateway): void {
  const skipped = mends.find((mend) => mend.startsWith('frames-skipped'));
  if (skipped !== undefined) alertOdd(target, skipped, observer);
}

/** Tells the operator of counts that say that a text cost nothing. A usage that never came says nothing. */
export function alertUncounted(last: AttemptRecord | undefined, { observer }: Gateway): void {
  if (last?.outcome.kind !== 'answered') return;
  const { usage } = last.outcome.reading;
  if (usage === null) return;
  const what = `a text for which ${totalInput(usage)} tokens were read and ${totalOutput(usage)} written`;
  alertOdd(last.target, what, observer);
}

function alertOdd({ channel, upstreamModel }: Target, what: string, observer: Gateway['observer']): void {
  observer.alert('odd-answer', { channel: channel.id, model: upstreamModel, what });
}
