import {
  beginningOf,
  callProtocols,
  type Facts,
  fail,
  type ProtocolId,
  protocolIds,
  type Result,
  succeed,
  upstreamProtocolsOf,
} from '@headgate/protocols';
import { z } from 'zod';
import { type Caller, type Catalogue, type KeyRecord, type Model, mayCall } from '../catalogue/catalogue.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { Settings } from '../config.ts';
import type { ExplainedCandidate, ExplainedExclusion, Explanation } from '../route/explain.ts';
import type { Choice, RouteRequest } from '../route/route.ts';
import type { Router, RouterOptions } from '../route/router.ts';
import { sessionIdentity } from '../route/session.ts';
import { choiceWords, exclusionWords } from './past-route.ts';

export interface ExplainTools {
  readonly catalogue: Catalogue;
  readonly router: Pick<Router, 'explain'>;
  /** On the clock of the wall. */
  readonly nowMs: number;
}

/**
 * The route that a call would take now, as programs read it. Amounts are what a successful call is expected to cost, all told, in whole
 * pico-dollars; chances and shares from 0 to 1, to four digits. It names channels: for operators alone.
 */
export interface RouteExplanation {
  readonly key: { readonly id: string; readonly name: string };
  readonly group: string;
  readonly preset: string;
  readonly model: string;
  readonly surface: ProtocolId;
  readonly stream: boolean;
  readonly inputTokens: number;
  readonly maxOutputTokens: number | null;
  readonly choice: Choice;
  readonly because: string;
  /** Per channel that does not speak the surface: the protocols that a call may be translated to. It goes by the one that loses least of it, and by the first where that is the same. */
  readonly translated: Readonly<Record<string, readonly ProtocolId[]>>;
  /** Channels in the order in which they would be asked; where a draw decides, the likeliest first. */
  readonly order: readonly string[];
  readonly candidates: readonly CandidateView[];
  readonly exclusions: readonly ReturnType<typeof exclusionView>[];
  /** Obstacles that keep such a call from being made, whatever its route. */
  readonly warnings: readonly string[];
}

export type CandidateView = ReturnType<typeof candidateView>;

/** Answers where a call would go, without making it: the one answer that the command line and the console give. */
export function explainRoute(
  question: RouteQuestion,
  tools: ExplainTools,
): Result<RouteExplanation, RouteProblem> {
  const { catalogue, nowMs } = tools;
  const caller = findCaller(question.key, catalogue, nowMs);
  if (!caller.ok) return caller;
  const surface = surfaceOf(question, caller.value);
  if (!surface.ok) return surface;
  const model = findModel(question.model, caller.value, catalogue);
  if (!model.ok) return model;
  const request = askOf(question, caller.value, surface.value, model.value);
  const explanation = tools.router.explain(request, nowMs);
  return succeed(viewOf(question, caller.value, request, explanation));
}

/** By id, by the beginning of one, or by name. A name that several keys have is none. */
function findCaller(given: string, { keys }: Catalogue, nowMs: number): Result<Caller, RouteProblem> {
  // Whoever puts a key here in the place of its name must not find it in an answer.
  if (given.startsWith('sk-'))
    return fail({ field: 'key', message: 'name the key by its id or name, not by the key itself' });
  const all = [...keys.values()];
  const named = all.filter(({ caller }) => caller.keyName === given);
  const [first, second] = [
    ...all.filter(({ caller }) => caller.keyId === given),
    ...(named.length > 0 ? named : all.filter(({ caller }) => caller.keyId.startsWith(given))),
  ];
  if (first === undefined) {
    const names = all.flatMap(({ caller }) => [caller.keyId, caller.keyName]);
    const hint = didYouMean(given, names);
    return fail({
      field: 'key',
      message: `there is no key "${given}"${hint === '' ? '; `headgate keys list` names them' : hint}`,
    });
  }
  if (second !== undefined && first.caller.keyId !== given)
    return fail({
      field: 'key',
      message: `several keys are called or begin with "${given}"; name one by its id`,
    });
  const obstacle = obstacleOf(first, nowMs);
  return obstacle === null ? succeed(first.caller) : fail({ field: 'key', message: obstacle });
}

function obstacleOf({ caller: { keyId, expiresAtMs }, status }: KeyRecord, nowMs: number): string | null {
  if (status === 'disabled')
    return `the key ${keyId} is disabled; \`headgate keys enable ${keyId}\` lets it work again`;
  if (status === 'revoked') return `the key ${keyId} is revoked for good; name another`;
  return expiresAtMs !== null && expiresAtMs <= nowMs ? `the key ${keyId} has expired; name another` : null;
}

function surfaceOf({ surface }: RouteQuestion, { group }: Caller): Result<ProtocolId, RouteProblem> {
  const offered = callProtocols(group.platform);
  // A question that names none is about the surface that the platform is named after.
  const chosen = surface ?? offered.find((id) => id.endsWith(group.platform)) ?? offered[0];
  if (chosen !== undefined && offered.includes(chosen)) return succeed(chosen);
  const message = `keys of the group ${group.id} cannot call ${chosen}: its platform offers ${offered.join(', ')}`;
  return fail({ field: 'surface', message });
}

function findModel(given: string, caller: Caller, { models }: Catalogue): Result<Model, RouteProblem> {
  const model = models.get(given);
  const callable = [...models.keys()].filter((id) => mayCall(caller, id));
  if (model !== undefined && mayCall(caller, given)) return succeed(model);
  if (model !== undefined) {
    const limit =
      caller.models?.has(given) === false ? `the key ${caller.keyId}` : `the group ${caller.group.id}`;
    return fail({
      field: 'model',
      message: `this key may not call "${given}": ${limit} is limited to other models; name one of them, or allow it there`,
    });
  }
  const hint = didYouMean(given, callable);
  const message = `there is no model "${given}"${hint === '' ? '; `headgate models list` names them' : hint}`;
  return fail({ field: 'model', message });
}

function askOf(question: RouteQuestion, caller: Caller, protocol: ProtocolId, model: Model): RouteRequest {
  const { stream, inputTokens, maxOutputTokens, needs, session } = question;
  const facts: Facts = {
    model: model.id,
    stream,
    maxOutputTokens,
    inputTokensEstimate: inputTokens,
    choices: 1,
    needs: new Set(needs),
  };
  const header = (name: string) => (name === 'x-headgate-session' ? (session ?? undefined) : undefined);
  const { accountId, group } = caller;
  const named = sessionIdentity({ accountId, header, sessionClue: () => null });
  return { facts, model, protocol, routing: group.routing, accountId, asItIs: false, session: () => named };
}

function viewOf(
  { stream, inputTokens, maxOutputTokens }: RouteQuestion,
  { keyId, keyName, group }: Caller,
  { model, protocol, routing }: RouteRequest,
  { choice, order, candidates, exclusions }: Explanation,
): RouteExplanation {
  const refusal = `The model ${model.id} has no price, so callers are told that there is none of this name; \`headgate prices show ${model.id}\` says how to give it one.`;
  return {
    key: { id: keyId, name: keyName },
    group: group.id,
    preset: routing.preset,
    model: model.id,
    surface: protocol,
    stream,
    inputTokens,
    maxOutputTokens,
    choice,
    because: choiceWords[choice],
    translated: translatedTo(model, protocol, order),
    order,
    candidates: candidates.map(candidateView),
    exclusions: exclusions.map(exclusionView),
    warnings: model.isOffered ? [] : [refusal],
  };
}

function translatedTo(model: Model, surface: ProtocolId, order: readonly string[]) {
  const translated: Record<string, readonly ProtocolId[]> = {};
  for (const { channel } of model.targets) {
    const ids = upstreamProtocolsOf(surface, channel.provider.protocols);
    if (order.includes(channel.id) && ids[0] !== surface) translated[channel.id] = ids;
  }
  return translated;
}

/** The parts add up to what is expected, but for rounding. */
function candidateView(candidate: ExplainedCandidate) {
  const { channelId, upstreamModel, tier, share, chance, waitMs, expectedCostPicoUsd, isCostKnown, parts } =
    candidate;
  return {
    channel: channelId,
    upstreamModel,
    tier,
    share: fourDigits(share),
    chance: fourDigits(chance),
    waitMs: Math.round(waitMs),
    expectedCostPicoUsd: Math.round(expectedCostPicoUsd),
    costKnown: isCostKnown,
    parts: {
      pricePicoUsd: Math.round(parts.price),
      waitingPicoUsd: Math.round(parts.waiting),
      failurePicoUsd: Math.round(parts.failure),
      breakagePicoUsd: Math.round(parts.breakage),
      slowStartPicoUsd: Math.round(parts.slowStart),
    },
  };
}

/** `until` is null where no time is known. */
function exclusionView({ channelId, upstreamModel, reason, untilMs }: ExplainedExclusion) {
  const until = untilMs === null ? null : new Date(untilMs).toISOString();
  return { channel: channelId, upstreamModel, reason, because: exclusionWords[reason], until };
}

function fourDigits(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Says what is wrong with a question, and with which part of it. */
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
export const routeQuestion = z.strictObject({
  /** Id of the key, the beginning of one, or its name. */
  key: text,
  model: text,
  /** That of the key's platform, if left out. */
  surface: z.enum(protocolIds, { error: `must be one of ${protocolIds.join(', ')}` }).optional(),
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
  const field = beginningOf(name, 100);
  return { field, message: `is not known${didYouMean(field, Object.keys(routeQuestion.shape))}` };
}

/** The options a router plans by: the same in the gateway and in a command that tells what the gateway would do. */
export function plannerOptions(
  { attemptsMax }: Settings,
  hashCredential: RouterOptions['hashCredential'],
): Pick<RouterOptions, 'attemptsMax' | 'hashCredential'> {
  return { attemptsMax, hashCredential };
}
