import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Store } from '../../ports/store.ts';

/** 132 bits: as short as a link on one line of a terminal wants it, and far too many to try. */
const macLength = 22;

/** A link that was printed is good for so long. */
const goodForMs = 24 * 3_600_000;

/**
 * The token of the link by which the first operator is made. It follows from the operator's token and the time, so nothing is stored, and
 * each start of a console without people prints a good one. Once there is a person, none is good any more.
 */
export function setUpToken(operatorToken: string, nowMs: number): string {
  const issued = Math.floor(nowMs / 1000).toString(36);
  return `${issued}.${macOf(operatorToken, issued)}`;
}

/** A token for a console without people; null of one that has some. */
export async function firstToken(
  { people }: Pick<Store, 'people'>,
  operatorToken: string,
  nowMs: number,
): Promise<string | null> {
  return (await people.count()) === 0 ? setUpToken(operatorToken, nowMs) : null;
}

/** A token as it stands: `wrong` was not made here or is not whole, `over` is too old. */
export const setUpTokenStates = ['good', 'over', 'wrong'] as const;
export type SetUpTokenState = (typeof setUpTokenStates)[number];

export function setUpTokenState(operatorToken: string, token: string, nowMs: number): SetUpTokenState {
  const [issued = '', mac = ''] = token.split('.');
  const expected = Buffer.from(macOf(operatorToken, issued));
  const given = Buffer.from(mac);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'wrong';
  const ageMs = nowMs - Number.parseInt(issued, 36) * 1000;
  return ageMs >= -60_000 && ageMs < goodForMs ? 'good' : 'over';
}

function macOf(operatorToken: string, issued: string): string {
  return createHmac('sha256', operatorToken)
    .update(`headgate console set-up\n${issued}`)
    .digest('base64url')
    .slice(0, macLength);
}

/** The token stands behind `#`, so that no log and no other site is ever told it. */
export function setUpLink(consoleOrigin: string, token: string): string {
  return `${consoleOrigin}/setup#${token}`;
}
