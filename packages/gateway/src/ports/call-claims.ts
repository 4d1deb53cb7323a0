/** A call that its caller has named, so that it is not made twice. */
export interface CallClaim {
  readonly keyId: string;
  /** The caller's `idempotency-key`. */
  readonly name: string;
  /** Digest of path and body: under one name there is one request. */
  readonly fingerprint: string;
  readonly traceId: string;
  readonly nowMs: number;
}

/** As much of a claim as names it. */
export type ClaimedCall = Pick<CallClaim, 'keyId' | 'name' | 'traceId'>;

/**
 * `claimed`: it is this call's, durably · `other-body`: the name is that of another request · `running`: a call of a process that lives has it ·
 * `over`: the call that had it is over, or its process is; the ledger knows what came of it.
 */
export type ClaimResult =
  | { readonly kind: 'claimed' | 'other-body' | 'running' }
  | { readonly kind: 'over'; readonly traceId: string };

/** Keeps the names of calls for a day, for all processes on the store. */
export interface CallClaims {
  /** Takes a name that is free, or that the call `instead` has had, which is over. */
  claim(claim: CallClaim, instead: string | null): Promise<ClaimResult>;
  /** The call is over: whoever asks for its name next finds its entry. */
  conclude(claim: ClaimedCall): Promise<void>;
}
