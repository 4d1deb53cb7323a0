import { z } from 'zod';
import { unset, wordList } from './fields.ts';

const oneAddress = z.union([z.ipv4(), z.ipv6()]);
const oneRange = z.union([z.cidrv4(), z.cidrv6()]);

/** An address, or the range of those that begin alike (RFC 4632, RFC 4291 §2.3), without a zone. */
const addressRange = z
  .string('must be an address or a range such as 203.0.113.0/24')
  .refine(
    (text) => oneAddress.safeParse(text).success || oneRange.safeParse(text).success,
    'must be an address or a range such as 203.0.113.0/24 or 2001:db8::/32',
  );

/** A set that nobody can read any more is a mistake, and each entry is compared with every caller's address. */
const rangesMax = 100;

export const addressRanges = z
  .array(addressRange, 'must be a list of addresses and ranges')
  .min(1, 'must name an address, or be left out')
  .max(rangesMax, `must be ${rangesMax} entries at the most`);

export const addressRangesField = unset<readonly string[]>(
  addressRanges.describe(
    'The only addresses it may be used from, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32; any address if left out.',
  ),
  wordList(),
);
