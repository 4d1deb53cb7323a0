import {
  type Ask,
  type Edit,
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type Loss,
  noTerms,
  type Protocol,
  type Result,
  succeed,
  type UsageTerms,
} from '@headgate/protocols';
import { type Caller, type Model, speaks } from '../../catalogue/catalogue.ts';
import type { PriceVersion } from '../../money/price.ts';
import { factorIn, feeOf, hasFee, tierFor, unpricedTerms } from '../../money/price.ts';
import type { Gateway } from '../../ports/gateway.ts';
import type { AttemptEntry, CallEntry } from '../../ports/ledger.ts';
import type { Observer } from '../../ports/observer.ts';

/** The call, as far as it matters here. */
interface Asker {
  readonly request: InboundRequest;
  readonly protocol: Pick<Protocol, 'id'>;
  readonly caller: Pick<Caller, 'strict'>;
  readonly gateway: Pick<Gateway, 'observer'>;
}

/** Parts of a request that a target in the caller's protocol is not told of. */
export interface Withheld {
  readonly edits: readonly Edit[];
  readonly losses: readonly Loss[];
}

export const nothingWithheld: Withheld = { edits: [], losses: [] };

/**
 * A call does not go with what its model's price says nothing about: nobody knows what that would cost. A tool that the model is only
 * offered beside others is left out and listed as a loss; anything else, and every such tool of a strict key, is a fault. Tools count
 * only where a channel speaks the caller's protocol: no other one is told of them.
 */
export function withholdUnpriced(call: Asker, model: Model, price: PriceVersion): Result<Withheld, Fault> {
  const { request, protocol, caller, gateway } = call;
  const isNative = model.targets.some((target) => speaks(target, protocol.id));
  const asks = request.asks?.().filter((ask) => isUnpriced(ask, request, price, isNative)) ?? [];
  const [first] = asks;
  if (first === undefined) return succeed(nothingWithheld);
  gateway.observer.alert('unpriced-term', {
    model: model.id,
    term: first.term,
    mend: mendOf(model.id, first.term, request),
  });
  const tools = asks.flatMap(({ tool }) => tool ?? []);
  const isOffered = tools.length === asks.length && !caller.strict;
  const edits = isOffered ? (request.withoutTools?.(new Set(tools.map(({ index }) => index))) ?? null) : null;
  if (edits === null) return fail(refusalOf(asks.find(({ tool }) => tool === undefined) ?? first, model));
  const losses = tools.map(({ name }): Loss => ({ field: name, action: 'dropped', note: 'it has no price' }));
  return succeed({ edits, losses });
}

function refusalOf({ term, field }: Ask, model: Model): Fault {
  const message = `'${field}' asks for ${words[term]} that has no price for the model '${model.id}'; leave it out.`;
  return fault('invalid_request', { message, param: field });
}

const words: Readonly<Record<Ask['term'], string>> = {
  service: 'a service tier',
  region: 'a region',
  webSearches: 'a web search',
  fileSearches: 'a search of files',
  codeSessions: 'code to be run',
  groundings: 'grounding',
  pages: 'pages to be read',
};

function isUnpriced(
  { term }: Ask,
  { facts }: InboundRequest,
  { tiers }: PriceVersion,
  isNative: boolean,
): boolean {
  const { service = null, region = null } = facts.terms ?? {};
  switch (term) {
    case 'service':
      return !tiers.some((tier) => tier.service === service);
    case 'region':
      return region !== null && factorIn(tierFor(tiers, service, 0).regions, region) === undefined;
    default:
      return isNative && !hasFee(tierFor(tiers, null, 0), term);
  }
}

function mendOf(model: string, term: Ask['term'], { facts }: InboundRequest): string {
  const { service = null, region = null } = facts.terms ?? {};
  if (term === 'service') return `prices.${model}.services.${service}`;
  return term === 'region' ? `prices.${model}.regions.${region}` : `prices.${model}.${feeOf[term]}`;
}

/**
 * The terms that the upstream was asked for and that a price goes by: a service tier that translation has left out, or put near, is for
 * the answer to tell, and so is one that makes the call cheaper: upstreams that do not know a tier answer on their usual one.
 */
export function sentTerms(
  request: InboundRequest,
  losses: readonly Loss[],
  said: UsageTerms | undefined,
  price: PriceVersion | null,
): UsageTerms {
  const terms = request.facts.terms ?? noTerms;
  if (terms.service === null) return terms;
  const asks = losses.length === 0 ? [] : (request.asks?.().filter(({ term }) => term === 'service') ?? []);
  const isLost = asks.some(({ field }) => losses.some((loss) => loss.field === field));
  const isUntold = said === undefined || said.service === null;
  return isLost || (isUntold && price !== null && isCheaper(price, terms.service))
    ? { ...terms, service: null }
    : terms;
}

function isCheaper({ tiers }: PriceVersion, service: string): boolean {
  const [{ classes: own }, { classes: usual }] = [tierFor(tiers, service, 0), tierFor(tiers, null, 0)];
  return own.input < usual.input || own.output < usual.output;
}

/** Tells the operator of all in a billed call that its price says nothing about. */
export function alertUnpriced(entry: CallEntry, price: PriceVersion, observer: Observer): void {
  const unpriced = unpricedTerms(entry.usage, price, entry.terms ?? undefined);
  if (unpriced.length === 0) return;
  const { service = null, region = null } = entry.terms ?? {};
  const named = unpriced.map((term) =>
    term === 'service' ? `service ${service}` : term === 'region' ? `region ${region}` : term,
  );
  observer.alert('unpriced-term', { model: entry.modelRequested, term: named.join(', ') });
}

/** Less than this is noise of rounding. */
const driftNanoUsdMin = 1_000n;

/** Tells the operator where an upstream states a cost that is more than a hundredth beside ours. */
export function alertDrift(
  { channelId, upstreamModel, costNanoUsd, statedCostNanoUsd }: AttemptEntry,
  observer: Observer,
): void {
  if (statedCostNanoUsd === null || costNanoUsd === null) return;
  const difference = costNanoUsd - statedCostNanoUsd;
  const drift = difference < 0n ? -difference : difference;
  if (drift < driftNanoUsdMin || drift * 100n <= statedCostNanoUsd) return;
  const amounts = { oursNanoUsd: String(costNanoUsd), statedNanoUsd: String(statedCostNanoUsd) };
  observer.alert('cost-drift', { channel: channelId, model: upstreamModel, ...amounts });
}
