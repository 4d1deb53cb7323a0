import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { CallClaim, ClaimedCall, ClaimResult } from '../../ports/call-claims.ts';
import { StoreUnavailable } from '../../ports/store.ts';
import { inTransaction } from './database.ts';
import { acquireRun, runFile } from './runs.ts';

/** A name is kept for so long after it was taken; while its call is not over, for longer: a clock may jump by a day in the middle of one. */
const [keptMs, keptOpenMs] = [86_400_000, 7 * 86_400_000];

export const claimTable = `
CREATE TABLE call_claims (
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  claimed_at_ms INTEGER NOT NULL,
  is_over INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX call_claims_by_age ON call_claims (claimed_at_ms);
`;

/** A claim, or the end of a call that has claimed its name. */
export type ClaimChange =
  | { readonly kind: 'claim'; readonly claim: CallClaim; readonly instead: string | null }
  | { readonly kind: 'end'; readonly call: ClaimedCall };

/** The claims of calls in a database; durable when a method returns. */
export class ClaimTable {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #run: () => bigint | null;

  constructor(database: DatabaseSync, file: string, run: () => bigint | null) {
    this.#database = database;
    this.#file = file;
    this.#run = run;
  }

  /** Makes changes in their order, all in one transaction; the result of each, null for the end of a call. */
  change(changes: readonly ClaimChange[]): readonly (ClaimResult | null)[] {
    const run = this.#run();
    if (run === null) throw new StoreUnavailable('claims belong to a run, and none has begun');
    return inTransaction(this.#database, () =>
      changes.map((change) => {
        if (change.kind === 'claim') return this.#claim(change, run);
        this.#conclude(change.call);
        return null;
      }),
    );
  }

  #claim({ claim, instead }: Extract<ClaimChange, { readonly kind: 'claim' }>, run: bigint): ClaimResult {
    const { keyId, name, fingerprint, traceId, nowMs } = claim;
    this.#database
      .prepare('DELETE FROM call_claims WHERE claimed_at_ms < ? AND (is_over = 1 OR claimed_at_ms < ?)')
      .run(nowMs - keptMs, nowMs - keptOpenMs);
    const known = this.#database
      .prepare(
        'SELECT fingerprint, trace_id, run, is_over, claimed_at_ms FROM call_claims WHERE key_id = ? AND name = ?',
      )
      .get(keyId, name);
    if (known !== undefined) {
      const isRunning = known['is_over'] === 0n && this.#lives(BigInt(Number(known['run'])), run);
      if (isRunning || Number(known['claimed_at_ms']) >= nowMs - keptMs) {
        if (known['fingerprint'] !== fingerprint) return { kind: 'other-body' };
        if (isRunning) return { kind: 'running' };
        const holder = String(known['trace_id']);
        if (holder !== instead) return { kind: 'over', traceId: holder };
      }
    }
    this.#database
      .prepare(
        'INSERT OR REPLACE INTO call_claims (key_id, name, fingerprint, trace_id, run, claimed_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .run(keyId, name, fingerprint, traceId, run, nowMs);
    return { kind: 'claimed' };
  }

  #conclude({ keyId, name, traceId }: ClaimedCall): void {
    this.#database
      .prepare('UPDATE call_claims SET is_over = 1 WHERE key_id = ? AND name = ? AND trace_id = ?')
      .run(keyId, name, traceId);
  }

  /** A run lives as long as nobody else can take its lock. */
  #lives(run: bigint, own: bigint): boolean {
    if (run === own) return true;
    if (!existsSync(runFile(this.#file, run))) return false;
    const lock = acquireRun(this.#file, run);
    lock?.close();
    return lock === null;
  }
}
