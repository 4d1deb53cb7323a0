import { BlockList, isIP, isIPv6 } from 'node:net';
import { type Fault, fault } from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';

/** Addresses of the header that are looked at: no chain of proxies is longer. */
const hopsMax = 32;

/** Tells where callers are, and holds keys that are bound to addresses to them. Ranges are compiled once for each list of a catalogue. */
export class CallerAddresses {
  readonly #proxies: BlockList;
  readonly #compiled = new WeakMap<readonly string[], BlockList>();

  constructor(trustedProxies: readonly string[]) {
    this.#proxies = compile(trustedProxies);
  }

  /** Null where the caller is at one of its addresses. */
  refusal(addressRanges: NonNullable<Caller['addressRanges']>, source: AddressSource): Fault | null {
    const address = this.addressOf(source);
    if (address !== null && contains(this.#compile(addressRanges), address)) return null;
    return fault('address_not_allowed', {
      message:
        address === null
          ? 'This key is bound to addresses, and it cannot be told from which one this request comes.'
          : `This key may not be used from ${address}: it is bound to other addresses.`,
    });
  }

  #compile(ranges: readonly string[]): BlockList {
    const known = this.#compiled.get(ranges);
    if (known !== undefined) return known;
    const compiled = compile(ranges);
    this.#compiled.set(ranges, compiled);
    return compiled;
  }

  /**
   * The caller's address; null where it cannot be told. Each proxy appends the address of whoever called it, so the last one that is no
   * trusted proxy's is the caller's: what stands before it may be made up.
   */
  addressOf(source: AddressSource): string | null {
    const hops = (source.header('x-forwarded-for') ?? '').split(',').slice(-hopsMax);
    let address = addressIn(source.peer ?? '');
    while (address !== null && contains(this.#proxies, address)) {
      const hop = hops.pop()?.trim() ?? '';
      if (hop === '') return address;
      address = addressIn(hop);
    }
    return address;
  }
}

/** The parts of a request that tell where it comes from. */
interface AddressSource {
  readonly peer: string | undefined;
  header(name: 'x-forwarded-for'): string | undefined;
}

function compile(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** The address as it was before a socket for both families wrote it its way, and without the port that some proxies add; null of anything else. */
function addressIn(text: string): string | null {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '');
  return isIP(address) === 0 ? null : address;
}
