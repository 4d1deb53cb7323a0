import { offlineProblem, problemOf } from './problem.ts';

/** Parameters of a query; those that are empty are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Asking {
  readonly query?: Query;
  readonly body?: unknown;
  /** The state that a change is meant for: where the thing has changed since, the answer is a problem of status 412. */
  readonly etag?: string | null;
  /** The same for every try of one creation, which then happens once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** An answer and the state of the thing that it is about. */
export interface Tagged<Value> {
  readonly value: Value;
  readonly etag: string | null;
}

const base = '/api/v1';

/** Asks the console's API. Throws a `Problem`. */
export const api = {
  get: <Value>(path: string, asking?: Asking) => ask<Value>('GET', path, asking),
  post: <Value>(path: string, asking?: Asking) => ask<Value>('POST', path, asking),
  put: <Value>(path: string, asking?: Asking) => ask<Value>('PUT', path, asking),
  patch: <Value>(path: string, asking?: Asking) => ask<Value>('PATCH', path, asking),
  delete: <Value>(path: string, asking?: Asking) => ask<Value>('DELETE', path, asking),
  getTagged: async <Value>(path: string, asking?: Asking): Promise<Tagged<Value>> => {
    const answer = await send('GET', path, asking);
    return { value: await read<Value>(answer), etag: answer.headers.get('etag') };
  },
};

export async function ask<Value>(method: Method, path: string, asking: Asking = {}): Promise<Value> {
  return read<Value>(await send(method, path, asking));
}

/** The address of something of the API that the browser itself fetches: an export, a stream. */
export function urlOf(path: string, query: Query = {}): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(words).toString();
  return `${base}${path}${text === '' ? '' : `?${text}`}`;
}

async function send(method: Method, path: string, asking: Asking = {}): Promise<Response> {
  const { query, body, etag, idempotencyKey, signal } = asking;
  const headers = new Headers({ accept: 'application/json' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (etag !== undefined && etag !== null) headers.set('if-match', etag);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  const answer = await fetch(urlOf(path, query), {
    method,
    headers,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    // Who took the question back wants no problem told.
    throw error instanceof DOMException && error.name === 'AbortError' ? error : offlineProblem();
  });
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

/** The contract of the API says of which type an answer is; it is not checked a second time here. */
async function read<Value>(answer: Response): Promise<Value> {
  if (answer.status === 204 || answer.headers.get('content-length') === '0') return undefined as Value;
  return (await answer.json()) as Value;
}
