import { fail, type Result, succeed } from '@headgate/protocols';
import { type Actor, isOperator, type Scope, scopeOf } from '../../../admin/people/actor.ts';
import { provenanceOf } from './origins.ts';
import { type ConsoleProblem, problem } from './problem.ts';
import type { Access } from './route.ts';
import { bearerOf, foreignTo, unauthenticated } from './token-gate.ts';

export interface GateOptions {
  readonly operatorToken: string;
  /** Null where the console is reached where it listens. */
  readonly consoleOrigin: string | null;
  /** The person whose session the cookies of a request name; null where it is nobody's. Rejects with `StoreUnavailable`. */
  findPerson(cookies: string, address: string | null): Promise<Actor | null>;
  readonly now: () => number;
}

/** A route, as far as it is decided who may ask. */
export interface GuardedRoute {
  readonly access: Access;
  readonly fresh?: boolean;
}

/** Who asks, and the accounts in which they may. */
export interface Admitted {
  readonly actor: Actor;
  readonly scope: Scope;
}

/** A person who has proved who they are may change secrets for so long. */
export const freshMs = 10 * 60_000;

const reads: readonly string[] = ['GET', 'HEAD'];

/** Decides who asks, and whether they may: before anything of the request but its head is read. */
export class Gate {
  readonly #options: GateOptions;
  readonly #bears: (authorization: string | null) => boolean;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#bears = bearerOf([options.operatorToken]);
  }

  async admit(
    request: Request,
    address: string | null,
    { access, fresh = false }: GuardedRoute,
  ): Promise<Result<Admitted, ConsoleProblem>> {
    const isRead = reads.includes(request.method);
    const provenance = provenanceOf(request.headers, this.#options.consoleOrigin);
    // Whatever everybody may read can be linked to from anywhere.
    if (provenance === 'foreign' && !(isRead && access === 'anyone')) return fail(foreignTo(request.headers));
    const actor = await this.#identify(request.headers, address);
    if (!actor.ok) return actor;
    // A browser adds the cookie to whatever a page asks for, so a page must be known to be ours.
    if (actor.value.kind === 'person' && !isRead && provenance !== 'own') return fail(unsaid);
    const refusal = refusalOf(actor.value, access, fresh ? this.#options.now() - freshMs : null);
    return refusal === null
      ? succeed({ actor: actor.value, scope: scopeFor(actor.value, access) })
      : fail(refusal);
  }

  async #identify(headers: Headers, address: string | null): Promise<Result<Actor, ConsoleProblem>> {
    const authorization = headers.get('authorization');
    if (authorization !== null)
      return this.#bears(authorization) ? succeed({ kind: 'operator-token', address }) : fail(stranger);
    const cookies = headers.get('cookie');
    const person = cookies === null ? null : await this.#options.findPerson(cookies, address);
    return succeed(person ?? { kind: 'nobody', address });
  }
}

function refusalOf(actor: Actor, access: Access, provenSinceMs: number | null): ConsoleProblem | null {
  if (access === 'anyone') return null;
  if (actor.kind === 'nobody') return stranger;
  if (!holds(actor, access)) return forbidden;
  const isStale = actor.kind === 'person' && provenSinceMs !== null && actor.provenAtMs < provenSinceMs;
  return isStale ? unproven : null;
}

function holds(actor: Actor, access: Exclude<Access, 'anyone'>): boolean {
  if (access === 'signed-in' || isOperator(actor)) return true;
  return access === 'operator' ? false : scopeOf(actor, access).length > 0;
}

function scopeFor(actor: Actor, access: Access): Scope {
  if (access === 'anyone' || access === 'signed-in') return scopeOf(actor, 'viewer');
  return access === 'operator' ? 'all' : scopeOf(actor, access);
}

const stranger = unauthenticated('operator-token');

const forbidden = problem(
  'forbidden',
  'Your role does not let you do this: ask whoever manages your accounts.',
);

const unproven = problem('reauthentication_required', 'Enter your password once more, and repeat this.');

const unsaid = problem(
  'forbidden_origin',
  'A change by a session must come from a page of this console: its Origin and Sec-Fetch-Site are missing.',
  [{ field: 'origin', message: "must be the console's origin" }],
);
