import { fail } from '@headgate/protocols';
import { readCsv } from '../config/csv-reader.ts';
import { readPriceRows, readPriceSheet } from '../config/price-sheet.ts';

/** Reads a file of prices. The ending of its name says how. */
export async function readPriceFile(
  bytes: Uint8Array,
  name: string,
): Promise<ReturnType<typeof readPriceSheet>> {
  switch (/\.(\w+)$/.exec(name)?.[1]?.toLowerCase()) {
    case 'csv':
      return readPriceRows(await Array.fromAsync(readCsv([bytes])), name);
    case 'yaml':
    case 'yml':
    case 'json':
      return readPriceSheet(new TextDecoder().decode(bytes), name);
    default:
      return fail([
        {
          where: name,
          path: '',
          message: 'must end in .yaml, .yml, .json or .csv, so that it is known how to read it',
        },
      ]);
  }
}
