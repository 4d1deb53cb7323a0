import { z } from 'zod';
import { formatDecimal, parseDecimal } from '../money/money.ts';
import { convertedOrUnset } from './fields.ts';
import { modelId } from './identifiers.ts';

/** A part of its charges that an account is let off. */
export interface Discount {
  /** Parts per million that are left to be paid: 875,000 of 12.5 %. */
  readonly keptPpm: bigint;
  /** Public ids; null is every model. */
  readonly models: readonly string[] | null;
}

const percent = z.union([z.number(), z.string()], 'must be a percentage such as 12.5');

const discountSchema = z.union(
  [
    percent,
    z
      .array(
        z.strictObject({
          percent: percent.describe(
            'What its calls cost less, 0 to 100, with two digits after the point at most.',
          ),
          models: z
            .array(modelId)
            .min(1)
            .exactOptional()
            .describe('Models it holds for, by public id; all that no entry before it names if left out.'),
        }),
      )
      .min(1)
      .max(100),
  ],
  'must be a percentage such as 12.5, or a list of such, each with its models',
);

/** A discount as a file says it. */
export type WrittenDiscount = z.infer<typeof discountSchema>;

const digits = 2;
/** Parts per million in a hundredth of a per cent. */
const hundredthPpm = 100n;
export const wholePpm = 1_000_000n;

/** Reads a percentage exactly. The error is fit for whoever wrote it. */
export function readPercent(given: string) {
  const read = parseDecimal(given, digits);
  if (!read.ok || read.value <= 10_000n) return read;
  return { ok: false, error: `"${given.slice(0, 40)}" is more than 100 per cent` } as const;
}

/** Everything that no shape can say of a discount, by its path within it. */
export function discountMistakes(
  discount: WrittenDiscount,
): readonly { readonly path: readonly string[]; readonly message: string }[] {
  const entries = Array.isArray(discount) ? discount : [{ percent: discount }];
  return entries.flatMap(({ percent: given, ...rest }, at) => {
    const path = Array.isArray(discount) ? [String(at)] : [];
    const percentPath = Array.isArray(discount) ? [...path, 'percent'] : [];
    const read = readPercent(String(given));
    const hidesOthers = at < entries.length - 1 && !('models' in rest && rest.models !== undefined);
    return [
      ...(read.ok ? [] : [{ path: percentPath, message: read.error }]),
      ...(hidesOthers ? [{ path, message: hidesOthersText }] : []),
    ];
  });
}

/** The words against an entry for every model that is not the last. */
export const hidesOthersText = 'holds for every model, so nothing behind it ever holds; write it last';

/** Discounts, whose percentages have been held against `readPercent`. */
export const discountField = convertedOrUnset<readonly Discount[], WrittenDiscount>(
  discountSchema.describe(
    'Per cent that its calls cost less than its group pays, or a list of such, each for some models; the first that names the model holds.',
  ),
  {
    write: (discounts) => JSON.stringify(writeDiscounts(discounts)),
    // The store is the only writer of the column.
    read: (cell) => readDiscounts(JSON.parse(String(cell)) as WrittenDiscount),
  },
  readDiscounts,
  writeDiscounts,
);

function readDiscounts(written: WrittenDiscount): readonly Discount[] {
  const entries = Array.isArray(written) ? written : [{ percent: written }];
  return entries.map(({ percent: given, ...rest }) => {
    const read = readPercent(String(given));
    if (!read.ok) throw new Error(read.error);
    const models: readonly string[] | null = 'models' in rest ? (rest.models ?? null) : null;
    return { keptPpm: wholePpm - read.value * hundredthPpm, models };
  });
}

/** Discounts as a file says them, with exact percentages. */
export function writeDiscounts(discounts: readonly Discount[]): WrittenDiscount {
  const entries = discounts.map(({ keptPpm, models }) => ({
    percent: percentText(keptPpm),
    ...(models === null ? {} : { models: [...models] }),
  }));
  const [first] = entries;
  return entries.length === 1 && first !== undefined && first.models === undefined ? first.percent : entries;
}

/** The percentage that is let off. */
export function percentText(keptPpm: bigint): string {
  return formatDecimal((wholePpm - keptPpm) / hundredthPpm, digits);
}

/** The factor that a group's callers pay of list prices, in parts per million, exactly; null of what is no plain decimal. */
export function readMultiplier(text: string): bigint | null {
  const read = parseDecimal(text, 6);
  return read.ok ? read.value : null;
}
