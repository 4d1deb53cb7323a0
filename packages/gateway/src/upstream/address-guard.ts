import { type LookupAddress, lookup } from 'node:dns';
import { isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';

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
 * Why a host may not be asked for through a proxy; null when it may. Names are resolved by the proxy, so no address can be checked and
 * pinned here. What is pinned is the certificate: only TLS is spoken there, nothing of a request is sent before the far end has
 * proven that it is the host, and nothing on a private network can.
 */
export function checkBehindProxy(hostname: string, secure: boolean): ForbiddenAddressError | null {
  const literal = checkLiteralAddress(hostname);
  if (literal !== null) return literal;
  if (/(^|\.)localhost$/i.test(hostname)) return new ForbiddenAddressError(`${hostname} is this machine`);
  if (secure) return null;
  return new ForbiddenAddressError(
    `${hostname} would be asked for through a proxy without TLS, so nothing proves that it is not a private address`,
  );
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

/** An address in network order: 4 bytes or 16. */
type AddressBytes = readonly number[];

interface Range {
  readonly prefix: AddressBytes;
  readonly bits: number;
}

/** Addresses that are not of the public Internet (docs/security, "Addresses we connect to"). */
const deniedRanges: readonly Range[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and every cloud's metadata server
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '224.0.0.0/3', // multicast, reserved, broadcast
  '::/128', // unspecified
  '::1/128', // loopback
  '64:ff9b:1::/48', // NAT64 of a local network: only that network knows where it leads
  'fc00::/7', // unique local
  'fe80::/10', // link-local
  'fec0::/10', // site-local
  'ff00::/8', // multicast
].map(parseRange);

interface Embedding {
  readonly range: Range;
  /** Offset of the first byte of the IPv4 address. */
  readonly offset: number;
  /** Each byte is combined with this; Teredo stores its client's address inverted. */
  readonly mask: number;
}

/** IPv6 ranges whose packets end up at an IPv4 address written inside them. */
const embeddings: readonly Embedding[] = [
  { range: parseRange('::/96'), offset: 12, mask: 0 }, // IPv4-compatible
  { range: parseRange('::ffff:0:0/96'), offset: 12, mask: 0 }, // IPv4-mapped
  { range: parseRange('::ffff:0:0:0/96'), offset: 12, mask: 0 }, // IPv4-translated
  { range: parseRange('64:ff9b::/96'), offset: 12, mask: 0 }, // NAT64
  { range: parseRange('2002::/16'), offset: 2, mask: 0 }, // 6to4
  { range: parseRange('2001::/32'), offset: 4, mask: 0 }, // Teredo: its server
  { range: parseRange('2001::/32'), offset: 12, mask: 0xff }, // Teredo: its client
];

/**
 * True when an address, as the resolver or a URL spells it, belongs to the public Internet. An IPv4 address inside an
 * IPv6 one is judged as well. What is not an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const bytes = parseAddress(address);
  if (bytes === null || deniedRanges.some((range) => contains(range, bytes))) return false;
  return embeddedAddresses(bytes).every(
    (embedded) => !deniedRanges.some((range) => contains(range, embedded)),
  );
}

function embeddedAddresses(bytes: AddressBytes): readonly AddressBytes[] {
  return embeddings
    .filter((embedding) => contains(embedding.range, bytes))
    .map(({ offset, mask }) => bytes.slice(offset, offset + 4).map((byte) => byte ^ mask));
}

function contains(range: Range, bytes: AddressBytes): boolean {
  if (bytes.length !== range.prefix.length) return false;
  return range.prefix.every((prefixByte, index) => {
    const relevantBits = Math.min(8, Math.max(0, range.bits - index * 8));
    const mask = (0xff << (8 - relevantBits)) & 0xff;
    return ((bytes[index] ?? 0) & mask) === (prefixByte & mask);
  });
}

function parseRange(text: string): Range {
  const [address = '', bits = ''] = text.split('/');
  const prefix = parseAddress(address);
  if (prefix === null) throw new Error(`not a range: ${text}`);
  return { prefix, bits: Number(bits) };
}

function parseAddress(address: string): AddressBytes | null {
  if (isIPv4(address)) return parseIpv4(address);
  return isIPv6(address) ? parseIpv6(address) : null;
}

function parseIpv4(address: string): AddressBytes {
  return address.split('.').map(Number);
}

/** Expects what `isIPv6` accepted: at most one `::`, perhaps a dotted tail, perhaps a zone. */
function parseIpv6(address: string): AddressBytes {
  const [withoutZone = ''] = address.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const headBytes = parseGroups(head);
  if (tail === undefined) return headBytes;
  const tailBytes = parseGroups(tail);
  const zeros = Array.from({ length: 16 - headBytes.length - tailBytes.length }, () => 0);
  return [...headBytes, ...zeros, ...tailBytes];
}

function parseGroups(groups: string): AddressBytes {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return parseIpv4(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
