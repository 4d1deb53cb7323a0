/** Counts the tokens of a prompt where no upstream does. */
export interface TokenCounter {
  /** An estimate for a request's body, in tokens; null when none can be made now. Never rejects. */
  count(body: Uint8Array): Promise<number | null>;
}
