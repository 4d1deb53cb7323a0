import { type Actor, isOperator } from '../../../admin/people/actor.ts';
import { StoreUnavailable } from '../../../ports/store.ts';
import { apiPrefix, ConsoleApi } from './console-api.ts';
import { Gate } from './gate.ts';
import { problem, problemResponse } from './problem.ts';

/** A question of a test, and its answer. */
export interface AskedRoute {
  readonly status: number;
  /** Empty where the answer is no JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly headers: Headers;
}

const operatorToken = 'token-of-tests';

/**
 * Asks routes without a socket, as a given actor: the operator's token if left out. Every answer is held against its schema. Paths are
 * those below `/api/v1`.
 */
export function testApi(
  define: (api: ConsoleApi) => void,
  given: { readonly actor?: Actor; readonly nowMs?: number } = {},
) {
  const { actor, nowMs = 0 } = given;
  const isToken = actor === undefined || (actor.kind !== 'person' && isOperator(actor));
  const gate = new Gate({
    ...{ operatorToken, consoleOrigin: 'http://console.test', now: () => nowMs },
    findPerson: () => Promise.resolve(actor?.kind === 'person' ? actor : null),
  });
  const api = new ConsoleApi({ gate, creates: null, checksAnswers: true });
  define(api);
  const hono = api.hono().onError((error) => {
    if (error instanceof StoreUnavailable)
      return problemResponse(problem('store_unavailable', error.message));
    throw error;
  });
  const credential = isToken
    ? { authorization: `Bearer ${operatorToken}` }
    : { cookie: 'session=x', origin: 'http://console.test' };
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AskedRoute> => {
    const response = await hono.request(`${apiPrefix}${path}`, {
      method,
      headers: { ...credential, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const json = isJson ? (JSON.parse(text) as AskedRoute['json']) : {}; // Answers are objects.
    return { status: response.status, json, text, headers: response.headers };
  };
}
