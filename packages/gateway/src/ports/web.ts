/** A request to a server of somebody else's that is neither a provider nor a receiver of events, such as one that people sign in at. */
export interface WebRequest {
  readonly url: string;
  readonly method: string;
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The operator's word that it may lead to an address that is not public. */
  readonly allowPrivate: boolean;
}

/**
 * Asks such a server once, and resolves with its whole answer: at most a megabyte, within ten seconds, without following anything. Rejects with
 * `WebUnreachable` when there is none, or its address is one that may not be connected to.
 */
export type AskWeb = (request: WebRequest) => Promise<Response>;

/** Why there is no answer, in words for the operator. */
export class WebUnreachable extends Error {
  override readonly name = 'WebUnreachable';
}
