import { type Facts, noUsage } from '@headgate/protocols';
import { modelOf, targetOf } from '../../packages/gateway/src/catalogue/catalogue.fixture.ts';
import { type Model, plainRouting, type Target } from '../../packages/gateway/src/catalogue/catalogue.ts';
import { picoUsd } from '../../packages/gateway/src/money/money.ts';
import type { PriceVersion } from '../../packages/gateway/src/money/price.ts';
import type { Outcome } from '../../packages/gateway/src/route/outcomes.ts';
import { CallProgress } from '../../packages/gateway/src/route/progress.ts';
import type { RoutedAttempt } from '../../packages/gateway/src/route/route.ts';
import { Router } from '../../packages/gateway/src/route/router.ts';
import { listPrice, type Sizes } from './condition.ts';
import { attemptsMax, type Call, type Follower, type PolicyMaker, type Setting } from './policy.ts';
import type { Failure } from './world.ts';

const picoPerUsd = 1e12;

const probeSizes: Sizes = { inputTokens: 1, outputTokens: 1 };
const unchanging = {
  protocol: 'chat-completions',
  routing: plainRouting,
  accountId: 'simulated',
  asItIs: false,
  session: () => null,
} as const;

/** The router of the gateway itself, told of every attempt as the pipeline tells it, and its accounting of a call's attempts. */
export const headgate: PolicyMaker = (setting) => {
  const router = new Router({
    attemptsMax,
    uniform: setting.uniform,
    hashCredential: (secret) => secret,
  });
  const catalogue = new CatalogueInTime(setting);
  const calls = new WeakMap<Call, Pursuit>();
  const pursuitOf = (call: Call): Pursuit => {
    const known = calls.get(call) ?? {
      progress: new CallProgress(attemptsMax),
      hasWaited: false,
      isPlanned: false,
    };
    calls.set(call, known);
    return known;
  };
  const targetOn = (channel: number, model: Model): Target => {
    const target = model.targets.find(({ channel: { id } }) => id === idOf(channel));
    if (target === undefined) throw new Error(`channel ${channel} does not serve ${model.id}`);
    return target;
  };
  const probesOf = (model: Model, nowMs: number) => {
    const worthwhile = router.probeWorthwhile(model, nowMs);
    return [...router.probesDue(model, nowMs), ...(worthwhile === null ? [] : [worthwhile])].map((target) => {
      const routed = router.probe(target, model, nowMs);
      return { channel: Number(target.channel.id), follower: follow(routed, probeSizes, () => undefined) };
    });
  };
  return {
    choose: (call, nowMs) => {
      const pursuit = pursuitOf(call);
      const { progress, hasWaited } = pursuit;
      if (!hasWaited && !progress.mayGoOn()) return null;
      const model = catalogue.model(call.model, nowMs);
      const request = { ...unchanging, facts: factsOf(model, call), model };
      const plan = pursuit.isPlanned
        ? router.route(request, nowMs, progress.forNext(hasWaited))
        : router.route(request, nowMs);
      const { targets, againMs } = plan;
      pursuit.isPlanned = true;
      pursuit.hasWaited = false;
      if (targets[0] !== undefined) return Number(targets[0].channel.id);
      if (againMs === null || !progress.mayWait(againMs)) return null;
      progress.noteWait(againMs);
      pursuit.hasWaited = true;
      return { waitMs: againMs };
    },
    sent: (call, channel, nowMs) => {
      const model = catalogue.model(call.model, nowMs);
      const target = targetOn(channel, model);
      const request = { ...unchanging, facts: factsOf(model, call), model };
      const { progress } = pursuitOf(call);
      progress.noteTurn(target);
      const routed = router.attempt(target, request, nowMs, progress.refused);
      return follow(routed, call, (outcome, endMs) =>
        progress.noteEnd({ target, outcome, durationMs: endMs - nowMs }, routed.credential),
      );
    },
    probes: (nowMs) => setting.models.flatMap((_, index) => probesOf(catalogue.model(index, nowMs), nowMs)),
  };
};

/** How far one call has come. */
interface Pursuit {
  readonly progress: CallProgress;
  /** For what is planned next. */
  hasWaited: boolean;
  isPlanned: boolean;
}

function idOf(channel: number): string {
  return String(channel).padStart(3, '0');
}

/** The catalogue with the prices of the moment: swapped whole when one changes. */
class CatalogueInTime {
  readonly #setting: Setting;
  #models: readonly Model[];
  #validUntilMs: number;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#models = modelsNow(setting);
    this.#validUntilMs = nextChangeMs(setting, 0);
  }

  model(index: number, nowMs: number): Model {
    if (nowMs >= this.#validUntilMs) {
      this.#models = modelsNow(this.#setting);
      this.#validUntilMs = nextChangeMs(this.#setting, nowMs);
    }
    const model = this.#models[index];
    if (model === undefined) throw new Error(`no model ${index}`);
    return model;
  }
}

function nextChangeMs({ priceChanges }: Setting, nowMs: number): number {
  return Math.min(
    ...priceChanges.map((at) => at * 1000).filter((atMs) => atMs > nowMs),
    Number.POSITIVE_INFINITY,
  );
}

function modelsNow({ world, models }: Setting): readonly Model[] {
  return models.map((channels, index) =>
    modelOf(
      channels.map((channel) =>
        targetOf({ id: idOf(channel), cost: priceNow(world.conditionNow(channel).multiplier) }),
      ),
      `model-${index}`,
    ),
  );
}

export function priceNow(multiplier: number): PriceVersion {
  const price = (usd: number) => picoUsd(BigInt(Math.round(usd * multiplier * picoPerUsd)));
  const none = picoUsd(0n);
  const input = price(listPrice.inputUsd);
  const classes = {
    input,
    cacheRead: input,
    cacheWrite5m: input,
    cacheWrite1h: input,
    output: price(listPrice.outputUsd),
    audioInput: none,
    audioOutput: none,
    imageInput: none,
    imageOutput: none,
    perImage: none,
    perCall: none,
  };
  return { id: '', effectiveFromMs: 0, tiers: [{ aboveInputTokens: 0, classes }] };
}

function factsOf(model: Model, { inputTokens }: Sizes): Facts {
  return {
    model: model.id,
    stream: true,
    maxOutputTokens: null,
    inputTokensEstimate: inputTokens,
    choices: 1,
    needs: new Set(),
  };
}

function follow(
  routed: RoutedAttempt,
  sizes: Sizes,
  onFailure: (outcome: Outcome, nowMs: number) => void,
): Follower {
  return {
    patienceMs: routed.firstContentMs,
    began: (nowMs) => routed.noteFirstContent(nowMs),
    failed: (failure, nowMs) => {
      const outcome = outcomeOf(failure);
      routed.noteEnd(outcome, nowMs);
      onFailure(outcome, nowMs);
    },
    ended: (isWhole, nowMs) => routed.noteEnd(isWhole ? answered(sizes) : broken, nowMs),
  };
}

function answered({ inputTokens, outputTokens }: Sizes): Outcome {
  const usage = { ...noUsage, inputFresh: inputTokens, output: outputTokens };
  const reading = {
    usage,
    finishReason: 'stop',
    finishReasonRaw: 'stop',
    modelServed: null,
    hasOutput: true,
    outputBytes: 4 * outputTokens,
    usageAtOutputBytes: 4 * outputTokens,
  } as const;
  return { kind: 'answered', reading };
}

const broken: Outcome = { kind: 'cut', committed: true, detail: 'reset', reading: null };

function outcomeOf(failure: Failure): Outcome {
  switch (failure.kind) {
    case 'refused':
      return { kind: 'unreachable', detail: 'refused', sent: false };
    case 'timed-out':
      return { kind: 'timed-out', phase: 'first-content', committed: false, reading: null };
    case 'server-error':
      return refusal('server-error', 500, null);
    case 'rate-limited':
      return refusal('rate-limited', 429, failure.retryAfterMs);
    default:
      return failure satisfies never;
  }
}

function refusal(
  kind: 'server-error' | 'rate-limited',
  status: number,
  retryAfterMs: number | null,
): Outcome {
  return {
    kind: 'refused',
    refusal: { kind, status, message: '', type: null, code: null, param: null },
    retryAfterMs,
  };
}
