import type { z } from 'zod';
import type { Actor, Scope } from '../../../admin/people/actor.ts';
import type { ConsoleAnswer } from './answer.ts';
import type { ConsoleProblem } from './problem.ts';

/**
 * Who may ask. `anyone`: without signing in. `signed-in`: every person. A role: who has it, or one above it, in an account; the scope of
 * the call is the accounts where they have. `operator`: operators and their programs.
 */
export const accesses = ['anyone', 'signed-in', 'viewer', 'member', 'admin', 'operator'] as const;
export type Access = (typeof accesses)[number];

export type RouteMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The names in braces of a path. */
export type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** All that sets one route apart, beside what it does. It cannot be written without saying who may ask. */
export interface RouteSpec<
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Out extends z.ZodType | null,
> {
  readonly method: RouteMethod;
  /** Below `/api/v1`: `/keys/{id}`. */
  readonly path: Path;
  readonly access: Access;
  /** The noun that it stands under in the description. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  /** In the place of `body`: the schema by which the use case reads it, which says better what is wrong than one alone could. */
  readonly rawBody?: z.ZodType;
  readonly bodyBytesMax?: number;
  /** Null where nothing is said but that it was done. */
  readonly answer: Out;
  /** It makes something: honours `Idempotency-Key`. */
  readonly creates?: boolean;
  /** Members of the answer that are shown this once and never kept: null when a create is repeated. */
  readonly onceShown?: readonly string[];
  /** People must have proved who they are within the last minutes. */
  readonly fresh?: boolean;
}

/** A spec of any route, as the description reads them. */
export type AnyRouteSpec = RouteSpec<string, z.ZodType, z.ZodType, z.ZodType | null> & {
  /** The type of an answer that is not JSON. */
  readonly produces?: string;
};

/** A request that may be made, with all of it read. */
export interface RouteCall<Path extends string, Query, Body> {
  readonly actor: Actor;
  /** The accounts in which the actor may do this. */
  readonly scope: Scope;
  readonly params: Readonly<Record<ParamNames<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Its signal says when whoever asked has left. */
  readonly request: Request;
  /** Holds what is there now against the `If-Match` of the request: a problem where it has changed. */
  ifMatch(version: unknown): ConsoleProblem | null;
}

/** A value as whoever answers with it may hold it: nobody changes it any more. */
export type Shown<Value> = Value extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Shown<Value[Name]> }
    : Value;

export type RouteHandler<Path extends string, Query, Body, Out> = (
  call: RouteCall<Path, Query, Body>,
) => Promise<ConsoleAnswer<Shown<Out>> | ConsoleProblem> | ConsoleAnswer<Shown<Out>> | ConsoleProblem;
