import { type Fault, fault } from '../error.ts';
import type { Dialect, HeaderLookup } from '../inbound-request.ts';
import { fail, type Result, succeed } from '../result.ts';

/** What the caller's headers say in this protocol. */
export interface ProtocolHeaders {
  /** A date; null when the caller leaves it to the channel. */
  readonly version: string | null;
  /** Names of features in trial, as sent; null when there are none. */
  readonly betas: string | null;
}

const versionNames = ['neutral-version', 'anthropic-version'] as const;
const betaNames = ['neutral-beta', 'anthropic-beta'] as const;

/** A date in form; which dates there are is for the upstream to say. */
const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the headers under our names for them or their vendor's. A version that is no date is refused by its name. */
export function readHeaders(header: HeaderLookup): Result<ProtocolHeaders, Fault> {
  const betas = betaNames.flatMap((name) => header(name) ?? []);
  const read = { version: null, betas: betas.length === 0 ? null : betas.join(',') };
  for (const name of versionNames) {
    const version = header(name);
    if (version === undefined) continue;
    return datePattern.test(version) ? succeed({ ...read, version }) : fail(malformedVersion(name));
  }
  return succeed(read);
}

function malformedVersion(name: string): Fault {
  const message = `The '${name}' header must be a date of the form YYYY-MM-DD, or be left out.`;
  return fault('invalid_request', { message, param: name });
}

/** The same for an upstream, which knows the vendor's names alone and insists on a version. */
export function upstreamHeaders({ version, betas }: ProtocolHeaders, dialect: Dialect): readonly string[] {
  const versioned = ['anthropic-version', version ?? dialect.messagesVersion];
  return betas === null ? versioned : [...versioned, 'anthropic-beta', betas];
}
