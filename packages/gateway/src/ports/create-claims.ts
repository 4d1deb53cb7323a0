/** Something that is to be made once, under a name that whoever asked chose. */
export interface CreateClaim {
  /** Digest of who asked and the name. */
  readonly id: string;
  /** Digest of what was asked for. */
  readonly request: string;
  readonly atMs: number;
}

/** Whatever came of an earlier request with the same name. */
export type EarlierCreate =
  | { readonly kind: 'new' }
  | { readonly kind: 'running' }
  /** It asked for something else. */
  | { readonly kind: 'other' }
  | { readonly kind: 'made'; readonly body: string };

/** Remembers for a day what was made under which name, for all processes. */
export interface CreateClaims {
  claim(claim: CreateClaim): Promise<EarlierCreate>;
  /** The answer, without secrets; null where nothing was made. */
  conclude(claim: CreateClaim, body: string | null): Promise<void>;
}
