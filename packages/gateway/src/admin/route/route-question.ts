import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { didYouMean } from '../../config/suggestion.ts';

/** What is wrong with a question, and with which part of it. */
export interface RouteProblem {
  /** A member of the question; empty where it is no question at all. */
  readonly field: string;
  /** Says how to mend it. */
  readonly message: string;
}

const tokens = z.int('must be a whole number').max(10_000_000, 'must be at most 10000000');
const text = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(200, 'must be 200 characters or fewer');

/** A call that is not made: who calls which model, and what shape the request has. Sizes in tokens. */
const routeQuestion = z.strictObject({
  /** Id of the key, the beginning of one, or its name. */
  key: text,
  model: text,
  /** That of the key's platform, if left out. */
  surface: z
    .enum(['chat-completions', 'responses', 'images', 'messages', 'generate-content'], {
      error: 'must be chat-completions, responses, images, messages or generate-content',
    })
    .optional(),
  stream: z.boolean('must be true or false').default(true),
  inputTokens: tokens.min(0, 'must be 0 or more').default(1000),
  maxOutputTokens: tokens.min(1, 'must be 1 or more').nullable().default(null),
  needs: z
    .array(
      z.enum(['tools', 'image-input', 'audio-input', 'file-input', 'audio-output', 'structured-output'], {
        error: 'must be tools, image-input, audio-input, file-input, audio-output or structured-output',
      }),
      'must be a list of needs',
    )
    .max(6, 'must name each need once')
    .default([]),
  /** As callers name it in `x-headgate-session`. */
  session: text.nullable().default(null),
});

export type RouteQuestion = z.output<typeof routeQuestion>;

export function readRouteQuestion(value: unknown): Result<RouteQuestion, readonly RouteProblem[]> {
  const read = routeQuestion.safeParse(value, { reportInput: true });
  return read.success ? succeed(read.data) : fail(read.error.issues.flatMap(problemsOf));
}

function problemsOf(issue: z.core.$ZodIssue): readonly RouteProblem[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.slice(0, 5).map(unknownField);
  const field = String(issue.path[0] ?? '');
  if (field === '') return [{ field, message: 'the body must be a JSON object with a key and a model' }];
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  return [{ field, message: isMissing ? 'is missing' : issue.message }];
}

function unknownField(name: string): RouteProblem {
  const field = name.slice(0, 100);
  return { field, message: `is not known${didYouMean(field, Object.keys(routeQuestion.shape))}` };
}
