/** Every code that a problem of the console may have, with its status and what is the same in all of them. */
const problemTable = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  unauthenticated: { status: 401, title: 'Sign in first' },
  wrong_credentials: { status: 401, title: 'These credentials are not right' },
  forbidden: { status: 403, title: 'This is not yours to do' },
  forbidden_origin: { status: 403, title: 'Pages of other origins may not ask here' },
  reauthentication_required: { status: 403, title: 'Prove that it is you once more' },
  not_found: { status: 404, title: 'There is no such thing' },
  conflict: { status: 409, title: 'It does not go together with how things are' },
  not_restarted: { status: 409, title: 'The gateway was not restarted' },
  stale: { status: 412, title: 'It has changed since you read it' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is of another type than it must be' },
  misdirected_request: { status: 421, title: 'This port does not answer for that name' },
  idempotency_mismatch: { status: 422, title: 'The same Idempotency-Key came with another request' },
  throttled: { status: 429, title: 'Too many attempts' },
  internal: { status: 500, title: 'Something went wrong here' },
  store_unavailable: { status: 503, title: 'The store cannot be asked at the moment' },
  too_many_followers: { status: 503, title: 'Too many follow already' },
} as const;

export type ProblemCode = keyof typeof problemTable;

/** A member of the body, the query or the path, or a header, and what is wrong with it. */
export interface FieldProblem {
  /** `limits.concurrency`; empty where it is about the whole. */
  readonly field: string;
  readonly message: string;
}

/** Why nothing was done: an answer in the place of the one that was asked for. */
export class ConsoleProblem {
  readonly code: ProblemCode;
  /** Says how to mend it. */
  readonly detail: string;
  readonly errors: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    errors: readonly FieldProblem[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
  }
}

export function problem(
  code: ProblemCode,
  detail: string,
  errors: readonly FieldProblem[] = [],
  headers: Readonly<Record<string, string>> = {},
): ConsoleProblem {
  return new ConsoleProblem(code, detail, errors, headers);
}

const fieldsMax = 20;

/** A request whose members are wrong, each by its name. */
export function invalid(errors: readonly FieldProblem[]): ConsoleProblem {
  const shown = errors.slice(0, fieldsMax);
  const texts = shown.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  return problem('invalid_request', texts.join('; '), shown);
}

/** Problems of every code, for the description of the interface. */
export const problemCodes = Object.entries(problemTable).map(([code, { status, title }]) => ({
  ...{ code, status, title },
}));

/** The answer as RFC 9457 has it. */
export function problemResponse({ code, detail, errors, headers }: ConsoleProblem): Response {
  const { status, title } = problemTable[code];
  const body = { type: `/api/docs#${code}`, title, status, code, detail };
  const text = JSON.stringify(errors.length === 0 ? body : { ...body, errors });
  return new Response(text, { status, headers: { 'content-type': 'application/problem+json', ...headers } });
}
