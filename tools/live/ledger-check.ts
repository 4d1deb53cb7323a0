import type { LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import type { LedgerFindings } from './ledger.ts';
import type { SeenCall } from './run.ts';
import type { Scene } from './scene.ts';

/** A dollar per million tokens is this many nano-dollars for one. */
const nanoUsdPerToken = 1000;

/** The entry of each call by the call's id. One that is written twice is missing here, and a complaint. */
export type EntriesByCall = ReadonlyMap<string, LedgerRecord>;

export interface LedgerCheck {
  readonly entries: EntriesByCall;
  /** Everything that does not fit what callers saw; empty when every call has exactly one entry, and each is right. */
  readonly complaints: readonly string[];
}

/** Holds the ledger against what callers saw: one entry each, the same trace id, ending, usage and charge. */
export function checkLedger(scene: Scene, calls: readonly SeenCall[], ledger: LedgerFindings): LedgerCheck {
  const byCall = Map.groupBy(ledger.entries, ({ clientRequestId }) => clientRequestId ?? 'nobody');
  const entries = new Map<string, LedgerRecord>();
  const complaints = ledger.findings.map(({ rule, subject, detail }) => `${rule}: ${subject}: ${detail}`);
  for (const call of calls) {
    const [entry, ...more] = byCall.get(call.id) ?? [];
    byCall.delete(call.id);
    if (entry === undefined || more.length > 0) {
      complaints.push(`${call.id} has ${entry === undefined ? 'no entry' : `${1 + more.length} entries`}`);
      continue;
    }
    entries.set(call.id, entry);
    complaints.push(...misfits(scene, call, entry).map((misfit) => `${call.id}: ${misfit}`));
  }
  complaints.push(...byCall.keys().map((id) => `an entry of ${id}, who never called`));
  return { entries, complaints };
}

function misfits(scene: Scene, call: SeenCall, entry: LedgerRecord): readonly string[] {
  const { answer } = call;
  const misfits: string[] = [];
  const expect = (what: string, seen: unknown, written: unknown) => {
    if (seen !== written) misfits.push(`${what} was ${seen} and is ${written}`);
  };
  if (answer.traceId !== null) expect('the trace id', answer.traceId, entry.traceId);
  expect('answered', answer.ending === 'answered', entry.status === 'complete');
  if (answer.status !== 0) expect('the status', answer.status, entry.httpStatus);
  expect('the charge', chargeOf(scene, call), entry.chargeNanoUsd);
  return misfits;
}

/** The cost of an answer by the usage it states; only whole answers cost anything. */
function chargeOf({ models }: Scene, { model, answer }: SeenCall): bigint {
  const price = models.find(({ id }) => id === model);
  if (answer.ending !== 'answered' || answer.usage === null || price === undefined) return 0n;
  const { input, output } = answer.usage;
  return BigInt((input * price.inputUsd + output * price.outputUsd) * nanoUsdPerToken);
}
