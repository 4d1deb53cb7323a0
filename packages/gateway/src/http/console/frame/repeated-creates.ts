import { createHash } from 'node:crypto';
import { type Actor, nameOf } from '../../../admin/people/actor.ts';
import type { CreateClaim, CreateClaims } from '../../../ports/create-claims.ts';
import { ConsoleAnswer } from './answer.ts';
import { type ConsoleProblem, invalid, problem } from './problem.ts';
import type { AnyRouteSpec } from './route.ts';

/** A create that its asker has named. */
interface NamedCreate {
  readonly spec: AnyRouteSpec;
  readonly key: string;
  /** The body as it came. */
  readonly text: string;
  readonly actor: Actor;
  readonly path: string;
}

type CreateResult = ConsoleAnswer<unknown> | ConsoleProblem | Response;

/** Makes what is asked for under one `Idempotency-Key` once, and answers the same again for a day: without what is shown only once. */
export class RepeatedCreates {
  readonly #claims: CreateClaims;
  readonly #now: () => number;

  constructor(claims: CreateClaims, now: () => number) {
    this.#claims = claims;
    this.#now = now;
  }

  async once(create: NamedCreate, run: () => Promise<CreateResult>): Promise<CreateResult> {
    if (!/^[\x21-\x7e]{1,200}$/.test(create.key)) return wrongKey;
    const claim = claimOf(create, this.#now());
    const earlier = await this.#claims.claim(claim);
    switch (earlier.kind) {
      case 'other':
        return otherRequest;
      case 'running':
        return stillRunning;
      case 'made': {
        const headers = { 'idempotency-replayed': 'true' };
        return new ConsoleAnswer(201, JSON.parse(earlier.body) as unknown, { headers });
      }
      case 'new':
        return this.#make(create, claim, run);
    }
  }

  async #make(
    { spec }: NamedCreate,
    claim: CreateClaim,
    run: () => Promise<CreateResult>,
  ): Promise<CreateResult> {
    let result: CreateResult | null = null;
    try {
      result = await run();
    } finally {
      // Whatever was not made may be asked for again.
      const made = result instanceof ConsoleAnswer ? result : null;
      const body = made === null ? null : JSON.stringify(withoutSecrets(spec, made.body));
      await this.#claims.conclude(claim, body);
    }
    return result;
  }
}

/** Nothing of it can be read back: neither the name that the asker chose nor what it asked for. */
function claimOf({ key, text, actor, path, spec }: NamedCreate, nowMs: number): CreateClaim {
  const who = actor.kind === 'person' ? `person ${actor.personId}` : `${actor.kind} ${nameOf(actor)}`;
  return {
    id: digest(`${who}\n${key}`),
    request: digest(`${spec.method} ${path}\n${text}`),
    atMs: nowMs,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function withoutSecrets({ onceShown = [] }: AnyRouteSpec, body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return { ...body, ...Object.fromEntries(onceShown.map((member) => [member, null])) };
}

const wrongKey = invalid([
  { field: 'idempotency-key', message: 'must be of 1 to 200 printable ASCII characters, without a space' },
]);

const otherRequest = problem(
  'idempotency_mismatch',
  'This Idempotency-Key came with another request within the last day: choose another key.',
  [{ field: 'idempotency-key', message: 'belongs to another request' }],
);

const stillRunning = problem('conflict', 'The first request with this Idempotency-Key is not answered yet.', [
  { field: 'idempotency-key', message: 'belongs to a request that is being answered' },
]);
