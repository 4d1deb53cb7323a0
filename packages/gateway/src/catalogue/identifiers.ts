import { z } from 'zod';

export const identifier = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be lower-case letters, digits, dots, dashes or underscores, 64 at the most',
  );

export const modelId = z
  .string()
  .regex(/^[\w.:/@+~-]{1,200}$/, 'must be a model id without spaces, 200 characters at the most');

export const decimal = z
  .union([z.number(), z.string()], 'must be a decimal number such as 2.50')
  .describe('An exact decimal, read from the text as written; at most six digits after the point.');
