import type { TestGateway } from './gateway.ts';
import { exchange, type RawAnswer } from './raw-http.ts';
import { type Mode, type Surface, surfaceRequest } from './surface-calls.ts';

/** One call with a key of the test's own, whatever its surface. */
export function callAs(
  gateway: TestGateway,
  keyId: string,
  surface: Surface,
  model: string,
  mode: Mode = 'json',
  more: object = {},
): Promise<RawAnswer> {
  const key = gateway.moreKeys[keyId] ?? '';
  const keys = { completions: key, messages: key, native: key };
  return exchange(gateway.apiOrigin, surfaceRequest({ ...gateway, keys }, surface, model, mode, more));
}

/** How many of the answers have each status. */
export function statuses(answers: readonly RawAnswer[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** So many calls at the same moment. */
export function atOnce(calls: number, make: () => Promise<RawAnswer>): Promise<readonly RawAnswer[]> {
  return Promise.all(Array.from({ length: calls }, make));
}
