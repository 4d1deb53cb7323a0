import { z } from 'zod';

const pageLimitMax = 200;
const pageLimitUsual = 50;

/** A whole number in the query. */
export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string(message)
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** The members that the query of every list has. */
export const pageMembers = {
  cursor: z
    .string()
    .max(1000, 'must be of 1,000 characters at the most')
    .exactOptional()
    .meta({ description: '`next` of the page before this one.' }),
  limit: wholeNumber(1, pageLimitMax)
    .optional()
    .transform((value) => value ?? pageLimitUsual)
    .meta({ description: `Items of a page; ${pageLimitUsual} if left out.` }),
};

/** The query of a list without filters. */
export const pageQuery = z.strictObject(pageMembers);

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Asks for the next page, as `cursor`; null behind the last one.' }),
  });
}

/** A moment in UTC. */
export const timeText = z.iso.datetime({ error: 'must be a time such as 2026-11-23T04:05:06.000Z' });

/** An exact amount in USD. */
export const usdText = z
  .string('must be text such as "12.50"')
  .regex(/^-?\d{1,15}(\.\d{1,12})?$/, 'must be a plain decimal such as "12.50"')
  .meta({ description: 'US dollars as an exact decimal.' });

/** Plain text of one line. */
export function textOf(max: number) {
  return z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(max, `must be of ${max} characters at the most`)
    .regex(/^[^\p{Cc}\u2028-\u202e\u2066-\u2069]*$/u, 'must be one line of plain characters');
}
