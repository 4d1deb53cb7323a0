import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** The guard's refusal, recognised by its class wherever a socket reports it. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** Resolves a name to all its addresses; `dns.lookup` in production. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const systemResolve: Resolve = (hostname, done) => {
  // With an error there are no addresses at all, whatever the types of node:dns say.
  lookup(hostname, { all: true, order: 'verbatim' }, (error, addresses) =>
    done(error, error === null ? addresses : []),
  );
};

/** Why a literal address may not be connected to; null when it may, or when it is a name to be resolved. */
export function checkLiteralAddress(hostname: string): ForbiddenAddressError | null {
  return isIP(hostname) === 0 ? null : checkAddress(hostname, hostname);
}

/**
 * A `lookup` for sockets that answers with checked addresses only. The socket connects to exactly these, so a name
 * cannot pass the check and then lead elsewhere. One private address among public ones refuses the name.
 */
export function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, (error, addresses) => {
      const refusal = error ?? findForbidden(hostname, addresses);
      if (refusal !== null) return done(refusal, '');
      const [first] = addresses;
      if (first === undefined) done(new Error(`${hostname} has no address`), '');
      else if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

function findForbidden(hostname: string, addresses: readonly LookupAddress[]): ForbiddenAddressError | null {
  for (const { address } of addresses) {
    const refusal = checkAddress(hostname, address);
    if (refusal !== null) return refusal;
  }
  return null;
}

function checkAddress(hostname: string, address: string): ForbiddenAddressError | null {
  if (isPublicAddress(address)) return null;
  return new ForbiddenAddressError(`${hostname} leads to ${address}, which is not a public address`);
}
