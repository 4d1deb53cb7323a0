/** A mistake in one member of what was sent. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The console's API did not do as it was asked (RFC 9457), or could not be asked at all. */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** 0 where there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** The wait that the API asks for; null where it asks for none. */
  readonly retryAfterSeconds: number | null;

  constructor(given: {
    readonly status: number;
    readonly code: string;
    readonly title: string;
    readonly detail?: string;
    readonly errors?: readonly FieldError[];
    readonly retryAfterSeconds?: number | null;
  }) {
    super(given.detail ?? given.title);
    this.status = given.status;
    this.code = given.code;
    this.title = given.title;
    this.detail = given.detail ?? '';
    this.errors = given.errors ?? [];
    this.retryAfterSeconds = given.retryAfterSeconds ?? null;
  }

  /** True where nothing was heard of the gateway: the network or the gateway is away. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** Reads the body of a refusal; one that is no problem of the API's is told by its status. */
export async function problemOf(answer: Response): Promise<Problem> {
  const body: unknown = await answer.json().catch(() => null);
  const members = isRecord(body) ? body : {};
  const textOf = (name: string) => (typeof members[name] === 'string' ? members[name] : undefined);
  const errors = Array.isArray(members['errors']) ? members['errors'].filter(isFieldError) : [];
  return new Problem({
    status: answer.status,
    code: textOf('code') ?? `http_${answer.status}`,
    title: textOf('title') ?? `${answer.status} ${answer.statusText}`.trim(),
    detail: textOf('detail'),
    errors,
    retryAfterSeconds: Number(answer.headers.get('retry-after')) || null,
  });
}

export function offlineProblem(): Problem {
  return new Problem({ status: 0, code: 'offline', title: 'The gateway did not answer' });
}

/** Says in words why something failed. */
export function wordsOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value['field'] === 'string' && typeof value['message'] === 'string';
}
