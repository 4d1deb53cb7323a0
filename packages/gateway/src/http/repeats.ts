import { createHash } from 'node:crypto';
import { type Fault, fault } from '@headgate/protocols';
import { formatNanoUsd, zeroNanoUsd } from '../money/money.ts';
import type { CallClaim, CallClaims } from '../ports/call-claims.ts';
import type { HeaderList } from '../ports/data-plane.ts';
import type { LedgerRecord } from '../ports/ledger-record.ts';
import type { Store } from '../ports/store.ts';
import type { Slices } from './slices.ts';

const nameGrammar = /^[\x21-\x7e]{1,255}$/;
/** Another process may take the name between two looks; so many times it is looked again. */
const looksMax = 3;
/** The end of a claim is written again and again, as long as the store is away: else its name would be taken until the process ends. */
const [concludesMax, concludeAgainMs] = [200, 5_000];
/** Bytes of a body that go into its fingerprint in one step. */
const hashedBytes = 256 * 1024;
/** Whoever repeats a call that is not over is told to come back then. */
const againMs = 2_000;

/**
 * The fate of a call that its caller has named: it is `run`, and says when it is `over`; it is `refused`; or it was `made` already, and its
 * entry answers.
 */
export type Beginning =
  | { readonly kind: 'run'; readonly over: () => void }
  | { readonly kind: 'refused'; readonly failure: Fault }
  | { readonly kind: 'made'; readonly record: LedgerRecord };

/** A call with an `idempotency-key`. */
export interface NamedCall extends Pick<CallClaim, 'keyId' | 'name' | 'traceId'> {
  readonly path: string;
  readonly search: string;
  readonly body: Uint8Array;
}

export interface RepeatsOptions {
  readonly claims: CallClaims;
  readonly store: Pick<Store, 'catchUp' | 'findEntry'>;
  readonly now: () => number;
  readonly slices: Slices;
}

/** Why a name cannot be that of a call; null when it can. */
export function wrongName(name: string): Fault | null {
  if (nameGrammar.test(name)) return null;
  const message = 'The idempotency key must be 1 to 255 visible ASCII characters, without spaces.';
  return fault('invalid_request', { message, param: 'idempotency-key' });
}

/** Sees to it that a call that its caller repeats under one name is made once (ADR 45). */
export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  /** Decides before anything is sent. Never rejects: without the store nobody knows, and the call is refused. */
  async begin(call: NamedCall): Promise<Beginning> {
    const { keyId, name, traceId, path, search, body } = call;
    const fingerprint = await this.#fingerprint(`${path}?${search}\n`, body);
    const claim = { keyId, name, traceId, fingerprint, nowMs: this.#options.now() };
    try {
      return await this.#decide(claim);
    } catch {
      return refused(fault('store_unavailable', { retryAfterMs: againMs }));
    }
  }

  /** That of a large body is made in slices. */
  async #fingerprint(beginning: string, body: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(beginning);
    let at = 0;
    const step = (): boolean => {
      hash.update(body.subarray(at, at + hashedBytes));
      at += hashedBytes;
      return at < body.length;
    };
    if (step()) await new Promise<void>((resolve) => this.#options.slices.work(step, resolve));
    return hash.digest('hex');
  }

  async #conclude(claim: CallClaim, attempts: number): Promise<void> {
    try {
      await this.#options.claims.conclude(claim);
    } catch {
      if (attempts > 1) setTimeout(() => void this.#conclude(claim, attempts - 1), concludeAgainMs).unref();
    }
  }

  async #decide(claim: CallClaim): Promise<Beginning> {
    const { claims, store } = this.#options;
    let instead: string | null = null;
    for (let look = 0; look < looksMax; look++) {
      const result = await claims.claim(claim, instead);
      switch (result.kind) {
        case 'claimed':
          return { kind: 'run', over: () => void this.#conclude(claim, concludesMax) };
        case 'other-body':
          return refused(fault('idempotency_key_reused', { param: 'idempotency-key' }));
        case 'running':
          return refused(fault('call_in_progress', { retryAfterMs: againMs }));
        case 'over': {
          // The entry may be on its way into the store; as long as it is not known that there is none, nothing is made.
          if ((await store.catchUp()) !== null)
            return refused(fault('call_in_progress', { retryAfterMs: againMs }));
          const record = await store.findEntry(result.traceId);
          if (record !== null && wasMade(record)) return { kind: 'made', record };
          instead = result.traceId;
        }
      }
    }
    return refused(fault('call_in_progress', { retryAfterMs: againMs }));
  }
}

function refused(failure: Fault): Beginning {
  return { kind: 'refused', failure };
}

/** One that failed and cost its caller nothing, or broke off with its process, may be made again. */
function wasMade({ status, chargeNanoUsd }: LedgerRecord): boolean {
  return status === 'complete' || chargeNanoUsd !== zeroNanoUsd;
}

/**
 * The answer to a repeated call that was made. 410: the answer is gone; no SDK takes it for a model's, and none tries again.
 */
export function madeAnswer(record: LedgerRecord): {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
} {
  const { traceId, status, unbilledReason, chargeNanoUsd, modelRequested, httpStatus } = record;
  const { startedAtMs, finishedAtMs } = record;
  const document = {
    object: 'idempotent_replay',
    message: `This call was made already, as ${traceId}. Its answer is not kept; GET /v1/usage has its entry.`,
    trace_id: traceId,
    status,
    http_status: httpStatus,
    billed: unbilledReason === null,
    charge_usd: formatNanoUsd(chargeNanoUsd),
    model: modelRequested,
    started_at: new Date(startedAtMs).toISOString(),
    finished_at: finishedAtMs === null ? null : new Date(finishedAtMs).toISOString(),
  };
  return {
    status: 410,
    headers: [
      ...['content-type', 'application/json', 'x-should-retry', 'false'],
      ...['x-headgate-idempotent-replay', traceId],
    ],
    body: Buffer.from(JSON.stringify(document)),
  };
}
