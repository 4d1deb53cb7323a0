import { noTerms, noUsage, type Platform, type ProtocolId, protocols, type Usage } from '@headgate/protocols';
import type { Catalogue, KeyRecord, Model, Target } from '../catalogue/catalogue.ts';
import { nanoUsd, zeroNanoUsd } from '../money/money.ts';
import { priceUsage } from '../money/price.ts';
import type { AttemptEntry, AttemptResult, CallEntry } from '../ports/ledger.ts';
import { cellMs } from '../ports/status.ts';

/** Every call of the history bears it: nobody made them. */
export const historyTag = 'simulated-history';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const historyDays = 14;
/** Calls of a weekday's busiest hour. */
const peakCalls = 46;
/** The clients that seem to have called. */
const clients = ['web-app/3.2', 'support-bot/1.9', 'nightly-batch/0.7', 'notebook/5.1'];
/** The part of calls that meet a failing channel, where any may. */
const stumbleShare = 0.05;
/** Most calls go to the first channel, which is the cheapest. */
const channelShares = [0.62, 0.27, 0.11];

/** A channel, or a whole model, that seems to have failed: a share of its calls, days before the start, at an hour of the day. */
export interface ScriptedTrouble {
  readonly daysAgo: number;
  readonly fromHour: number;
  readonly toHour: number;
  readonly share: number;
  /** The place of the channel; null where all of them failed. */
  readonly channel: number | null;
  /** The place of the model; null where all of them did. */
  readonly model: number | null;
}

const scriptedTroubles: readonly ScriptedTrouble[] = [
  { daysAgo: 9, fromHour: 10.25, toHour: 11.25, share: 1, channel: 1, model: null },
  { daysAgo: 3, fromHour: 14, toHour: 14.75, share: 0.34, channel: null, model: 1 },
];

/** The troubles of a history that ends then, with their times. */
export function troublesUntil(
  endMs: number,
): readonly (ScriptedTrouble & { readonly fromMs: number; readonly toMs: number })[] {
  const midnight = endMs - (endMs % dayMs);
  return scriptedTroubles.map((trouble) => {
    const day = midnight - trouble.daysAgo * dayMs;
    return { ...trouble, fromMs: day + trouble.fromHour * hourMs, toMs: day + trouble.toHour * hourMs };
  });
}

/** A trouble that is under way at a moment. */
export function troubleAt(atMs: number, endMs: number): ScriptedTrouble | undefined {
  return troublesUntil(endMs).find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
}

/**
 * Now and then a channel fails a call that another one saves: in one cell of six, so that no two follow each other and no
 * incident comes of it.
 */
function mayStumble(atMs: number): boolean {
  return Math.floor(atMs / cellMs) % 6 === 0;
}

/** Numbers from 0 to 1 by a seed (mulberry32): the same history at every first start. */
export function seededChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Calls as two weeks of usual life would have left them, oldest first: busy by day, quiet by night and at weekends. */
export function* demoHistory(
  catalogue: Catalogue,
  endMs: number,
  chance: () => number,
): Generator<CallEntry> {
  const models = [...catalogue.models.values()];
  const keys = [...catalogue.keys.values()].sort((a, b) => (a.caller.keyId < b.caller.keyId ? -1 : 1));
  const startMs = endMs - (endMs % hourMs) - historyDays * dayMs;
  for (let hour = startMs; hour < endMs; hour += hourMs) {
    const calls = Math.round(peakCalls * busyness(hour) * (0.85 + 0.3 * chance()));
    const moments = Array.from({ length: calls }, () => Math.floor(hour + chance() * hourMs)).sort(
      (a, b) => a - b,
    );
    for (const atMs of moments) {
      const place = chance() < 0.68 ? 0 : 1;
      const model = models[place % models.length];
      const key = keys[pick([0.6, 0.3, 0.1], chance) % keys.length];
      if (model === undefined || key === undefined || atMs > endMs - 60_000) continue;
      yield entryAt(new Draft(model, key, place, atMs, endMs, chance));
    }
  }
}

/** The part of the busiest hour that an hour has: by the sun, and by the week. */
function busyness(hourStartMs: number): number {
  const hour = (hourStartMs % dayMs) / hourMs;
  const day = new Date(hourStartMs).getUTCDay();
  const sun = 0.16 + 0.84 * Math.max(0, Math.sin(((hour - 5) / 16) * Math.PI)) ** 1.5;
  return sun * (day === 0 || day === 6 ? 0.45 : 1);
}

function pick(shares: readonly number[], chance: () => number): number {
  let left = chance();
  const found = shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return found < 0 ? 0 : found;
}

/** The numbers of one call, drawn once. */
class Draft {
  readonly model: Model;
  readonly key: KeyRecord;
  readonly atMs: number;
  readonly chance: () => number;
  /** Targets in the order they were asked; all but the last failed. */
  readonly asked: readonly Target[];
  readonly end: 'answered' | 'failed' | 'refused' | 'left';
  readonly ttftMs: number;
  readonly usage: Usage;
  readonly stream: boolean;

  constructor(
    model: Model,
    key: KeyRecord,
    place: number,
    atMs: number,
    endMs: number,
    chance: () => number,
  ) {
    this.model = model;
    this.key = key;
    this.atMs = atMs;
    this.chance = chance;
    const trouble = troubleAt(atMs, endMs);
    const fails = (channel: number) =>
      trouble !== undefined &&
      (trouble.channel ?? channel) === channel &&
      (trouble.model ?? place) === place &&
      chance() < trouble.share;
    const first = pick(channelShares, chance);
    const order = [first, ...channelShares.keys()].filter((at, index, all) => all.indexOf(at) === index);
    const stumbles = trouble === undefined && mayStumble(atMs) && chance() < stumbleShare;
    const failed = order.filter((channel) => fails(channel) || (stumbles && channel === first));
    // A whole model that fails in part does so wherever it is asked.
    const isLost = trouble?.channel === null && failed.includes(first);
    const good = order.find((channel) => !failed.includes(channel)) ?? first;
    const places = isLost ? [first] : failed.includes(first) ? [first, good] : [first];
    this.asked = places.flatMap((at) => model.targets[at] ?? []);
    const luck = chance();
    this.end = isLost ? 'failed' : luck < 0.004 ? 'refused' : luck < 0.012 ? 'left' : 'answered';
    this.stream = chance() < 0.8;
    this.ttftMs = (place === 0 ? 280 : 1100) * Math.exp(0.45 * bell(chance));
    const input = Math.round(900 * Math.exp(0.9 * bell(chance)));
    const cached = chance() < 0.35 ? Math.round(input * 0.6) : 0;
    const output = this.end === 'answered' ? Math.round(220 * Math.exp(0.7 * bell(chance))) : 0;
    const thought = place === 0 ? 0 : Math.round(output * 0.55);
    this.usage = {
      ...noUsage,
      ...(this.end === 'answered'
        ? {
            inputFresh: input - cached,
            inputCacheRead: cached,
            output: output + thought,
            outputReasoning: thought,
          }
        : {}),
    };
  }
}

/** About normal, between minus three and three. */
function bell(chance: () => number): number {
  return chance() + chance() + chance() + chance() + chance() + chance() - 3;
}

/** The first protocol of a platform, in the order of their table. */
function surfaceOf(platform: Platform): ProtocolId {
  const found = Object.values(protocols).find((protocol) => protocol.platform === platform);
  if (found === undefined) throw new Error(`no protocol is of ${platform}`);
  return found.id;
}

type End = Draft['end'];

const results = {
  answered: { status: 'complete', unbilled: null, result: 'answered', code: null, http: 200 },
  failed: {
    status: 'failed',
    unbilled: 'upstream_failed',
    result: 'refused',
    code: 'upstream_error',
    http: 502,
  },
  refused: {
    ...{ status: 'failed', unbilled: 'refused_by_upstream', result: 'refused' },
    ...{ code: 'upstream_invalid_request', http: 400 },
  },
  left: {
    status: 'caller_gone',
    unbilled: 'caller_gone_before_content',
    result: 'caller_gone',
    code: null,
    http: null,
  },
} as const satisfies Record<
  End,
  {
    readonly status: CallEntry['status'];
    readonly unbilled: CallEntry['unbilledReason'];
    readonly result: AttemptResult;
    readonly code: string | null;
    readonly http: number | null;
  }
>;

function entryAt(draft: Draft): CallEntry {
  const { model, key, atMs, chance, asked, end, usage, stream } = draft;
  const { caller } = key;
  const { status, unbilled, code, http } = results[end];
  const attempts = asked.map((target, at) => attemptAt(draft, target, at + 1, at + 1 === asked.length));
  const before = attempts.slice(0, -1).reduce((sum, { durationMs }) => sum + durationMs, 0);
  const durationMs = before + (attempts.at(-1)?.durationMs ?? 0);
  const isBilled = unbilled === null && model.price !== null;
  return {
    traceId: traceAt(atMs, chance),
    ...{ accountId: caller.accountId, keyId: caller.keyId, groupId: caller.group.id },
    ...{ surface: surfaceOf(caller.group.platform), modelRequested: model.id, stream, startedAtMs: atMs },
    ...{ priceVersion: model.price?.id ?? null, multiplierPpm: caller.group.multiplierPpm },
    ...{ clientRequestId: null, parentTrace: null, tag: historyTag },
    userAgent: clients[Math.floor(chance() * clients.length)] ?? null,
    ...{ status, unbilledReason: unbilled ?? (isBilled ? null : 'unpriced_model') },
    channelId: asked.at(-1)?.channel.id ?? null,
    modelServed: end === 'answered' ? (asked.at(-1)?.upstreamModel ?? null) : null,
    ...{ usage, usageSource: end === 'answered' ? 'upstream' : 'none', parts: null, terms: null },
    chargeNanoUsd:
      isBilled && model.price !== null
        ? priceUsage(usage, model.price, caller.group.multiplierPpm, noTerms)
        : zeroNanoUsd,
    leased: 0,
    ...{
      finishReason: end === 'answered' ? 'stop' : null,
      finishReasonRaw: end === 'answered' ? 'stop' : null,
    },
    ...{ httpStatus: http, errorCode: code, losses: [] },
    ttftMs: end === 'answered' ? Math.round(before + draft.ttftMs) : null,
    ...{ durationMs, overheadUs: Math.round(160 * Math.exp(0.3 * bell(chance))) },
    ...{ finishedAtMs: Math.round(atMs + durationMs), attempts, route: null },
  };
}

function attemptAt(
  { end, usage, ttftMs, chance }: Draft,
  target: Target,
  n: number,
  isLast: boolean,
): AttemptEntry {
  const came = isLast ? end : 'failed';
  const isAnswered = came === 'answered';
  const writingMs = isAnswered ? usage.output * (8 + 6 * chance()) : 0;
  return {
    n,
    ...{ channelId: target.channel.id, upstreamModel: target.upstreamModel, upstreamRequestId: null },
    result: results[came].result,
    detail: isAnswered || came === 'left' ? null : 'simulated',
    httpStatus: came === 'left' ? null : came === 'failed' ? 503 : results[came].http,
    ttftMs: isAnswered ? Math.round(ttftMs) : null,
    durationMs: Math.round(came === 'failed' ? 40 + 160 * chance() : ttftMs + writingMs),
    usage: isAnswered ? usage : null,
    costNanoUsd:
      isAnswered && target.cost !== null ? priceUsage(usage, target.cost, 1_000_000n, noTerms) : nanoUsd(0n),
    ...{ lane: 'passthrough', edits: ['model'], statedCostNanoUsd: null },
  };
}

/** A trace id that sorts by its time, as those of real calls do. */
export function traceAt(atMs: number, chance: () => number): string {
  const digits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(chance() * 16).toString(16)).join('');
  return `${atMs.toString(16).padStart(12, '0')}7${digits(3)}8${digits(15)}`;
}
