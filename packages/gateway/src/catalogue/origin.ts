const offsetBasis = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/**
 * The word by which sealed state is known to come from a target: the same for every call, and nothing can be read from it
 * (FNV-1a, 64 bits, in base 36). Accounts of one vendor do not share such state, so it names the channel.
 */
export function originOf(channelId: string, upstreamModel: string): string {
  let hash = offsetBasis;
  for (const byte of new TextEncoder().encode(`${channelId}\n${upstreamModel}`)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime);
  }
  return hash.toString(36);
}
