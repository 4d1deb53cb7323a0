import { z } from 'zod';
import { spendDimensions } from '../../../ports/call-reports.ts';
import { textOf, timeText, usdText, wholeNumber } from './common.ts';

const word = textOf(200).exactOptional();
const rowsMax = 1_000;
const rowsUsual = 200;

const spendFilter = {
  by: z
    .enum(spendDimensions, { error: `must be one of ${spendDimensions.join(', ')}` })
    .optional()
    .transform((by) => by ?? 'key')
    .meta({
      description:
        'A row for each of them; `key` if left out. Days are those of UTC. `channel` is for operators.',
    }),
  from: timeText
    .exactOptional()
    .meta({ description: 'Calls that began then or later; of 30 days if left out.' }),
  to: timeText.exactOptional().meta({ description: 'Calls that began before.' }),
  account: word,
  key: word,
  model: word,
  tag: word,
  channel: word.meta({ description: 'For operators alone.' }),
};

export const spendTableQuery = z.strictObject(spendFilter);
export type SpendTableQuery = z.output<typeof spendTableQuery>;
export const spendQuery = z.strictObject({
  ...spendFilter,
  limit: wholeNumber(1, rowsMax)
    .optional()
    .transform((value) => value ?? rowsUsual)
    .meta({ description: `Rows; ${rowsUsual} if left out. All others are summed up in one.` }),
});

const sums = {
  calls: z.int(),
  billedCalls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  charge: usdText,
  cost: usdText.exactOptional().meta({ description: 'For operators alone.' }),
  margin: usdText.exactOptional().meta({ description: 'For operators alone.' }),
  unknownCosts: z
    .int()
    .exactOptional()
    .meta({ description: 'Attempts whose cost nobody knows: they are in no sum.' }),
};

/** What the calls were charged that have one thing in common. */
export const spendRow = z
  .strictObject({
    id: z
      .string()
      .nullable()
      .meta({ description: 'Null for calls that no channel answered, or without a tag.' }),
    name: z.string().nullable().meta({ description: 'Of keys, accounts and groups.' }),
    ...sums,
  })
  .meta({ id: 'SpendRow' });
export type SpendRow = z.infer<typeof spendRow>;

export const spendReportView = z
  .strictObject({
    by: z.enum(spendDimensions),
    from: timeText,
    to: timeText.nullable(),
    items: z.array(spendRow).meta({ description: 'The dearest first; days in their order.' }),
    others: z.strictObject({ count: z.int(), ...sums }).nullable(),
    total: z.strictObject(sums),
  })
  .meta({ id: 'SpendReportView' });
export type SpendReportView = z.infer<typeof spendReportView>;
