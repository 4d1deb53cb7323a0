import { noUsage, type Reading, type Usage, type UsageTerms } from '@headgate/protocols';
import type { Model } from '../../catalogue/catalogue.ts';
import { meter } from '../../money/meter.ts';
import { type NanoUsd, nanoUsd, zeroNanoUsd } from '../../money/money.ts';
import type { Guard } from '../../ports/clock.ts';
import type { Demand, Hold, HoldRefusal, Taken } from '../../ports/holds.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import { alertBug } from '../outcomes.ts';
import type { Call } from '../request.ts';
import { outputTokensOf, takenBy, tokensOf } from './demand.ts';
import type { HeldPart, HeldStream } from './held.ts';
import { faultOfHold } from './refusal.ts';

/** A stream asks for more when so few tokens of its hold are left: a tenth of a second's, even of a fast model. */
const aheadTokens = 64;
/** It asks for so many more, or for a half of what it has, when that is more; after a refusal for what is said to be left. */
const stepTokensMin = 256;
/** Fewer are not worth asking for: the stream ends with so many to spare, as it is not known how many come at once. */
const lastTokens = 32;
/** Text of so many bytes is looked at without waiting for the watchdog. */
const bytesUnseenMax = 64;

const nothingTaken: Taken = { chargeNanoUsd: zeroNanoUsd, tokens: 0, images: 0 };

/**
 * A call's part of all limits of its caller, from its admission to its settlement (ADR 40). Streams that come near its end extend it,
 * and end where that is refused.
 */
export class CallHold implements Guard, HeldPart {
  /** At every look of the watchdog. */
  expiresAt = 0;
  index = -1;
  readonly #call: Call;
  readonly #model: Model;
  readonly #hold: Hold;
  readonly #terms: UsageTerms;
  readonly #streams: HeldStream[] = [];
  #held: Taken;
  /** Tokens that may still be had, as the latest refusal says; infinite before one. */
  #leftTokens = Number.POSITIVE_INFINITY;
  /** Tokens of an answer that broke off and is gone on with. */
  #tokensBefore = 0;
  #bytesLookedAt = 0;
  /** The text that had come when the answer said how it ends; null before. */
  #bytesAtEnd: number | null = null;
  #isAsking = false;
  #isStoreAway = false;
  #isSettled = false;

  constructor(call: Call, model: Model, terms: UsageTerms, demand: Demand, hold: Hold) {
    this.#call = call;
    this.#model = model;
    this.#terms = terms;
    this.#hold = hold;
    this.#held = demand;
  }

  get leased(): number {
    return this.#hold.leased;
  }

  follow(stream: HeldStream): void {
    const { gateway, request } = this.#call;
    // As many images are held as are asked for.
    if (request.facts.makesImages) return;
    this.#streams.push(stream);
    this.#bytesLookedAt = 0;
    this.#bytesAtEnd = null;
    if (this.index === -1) gateway.watchdog.watch(this);
  }

  letGo(stream: HeldStream): void {
    const place = this.#streams.indexOf(stream);
    if (place !== -1) this.#streams.splice(place, 1);
  }

  goOn(stream: HeldStream): void {
    this.#tokensBefore = outputTokensOf(this.#usageOf(stream));
  }

  noteBytes(stream: HeldStream): void {
    const bytes = stream.reading?.outputBytes ?? 0;
    if (bytes - this.#bytesLookedAt < bytesUnseenMax) return;
    this.#bytesLookedAt = bytes;
    this.#look(stream);
  }

  onExpire(): void {
    const { gateway, inbound } = this.#call;
    try {
      for (const stream of [...this.#streams]) this.#look(stream);
    } catch (error) {
      alertBug(error, inbound.traceId, gateway.observer);
    }
    if (this.#streams.length > 0) gateway.watchdog.watch(this);
  }

  settle(entry: CallEntry | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { gateway, caller, request } = this.#call;
    gateway.watchdog.release(this);
    if (entry === null || !isTaken(entry)) return this.#hold.settle(nothingTaken);
    const { usage, chargeNanoUsd, status, finishReason } = entry;
    this.#hold.settle({ chargeNanoUsd, tokens: tokensOf(usage), images: usage.images });
    if (status !== 'complete') return;
    const { usualOutputs } = gateway;
    const tokens = Math.ceil(outputTokensOf(usage) / request.facts.choices);
    // One that its caller cut short would have been longer: it cannot tell that answers are short.
    const usualMax = usualOutputs.usualMax(caller.keyId, this.#model.id);
    if (finishReason === 'length' && (usualMax === null || tokens <= usualMax)) return;
    usualOutputs.note(caller.keyId, this.#model.id, tokens);
  }

  #look(stream: HeldStream): void {
    if (this.#isSettled) return;
    if (stream.reading !== null && this.#hasSaidAll(stream.reading)) return;
    const usage = this.#usageOf(stream);
    if (this.#lacks(usage, aheadTokens) === null) return;
    if (!this.#isAsking) this.#ask(stream, usage);
    // The store has to say first that there is more: until then nothing is spent that may not be there.
    if (this.#isAsking && !this.#isStoreAway && this.#lacks(usage, lastTokens) !== null)
      stream.holdBack(true);
  }

  /** Only its end is still to come. Where several answers were asked for, the others go on when one has ended. */
  #hasSaidAll({ finishReason, outputBytes }: Reading): boolean {
    if (finishReason === null) return false;
    this.#bytesAtEnd ??= outputBytes;
    return outputBytes - this.#bytesAtEnd < bytesUnseenMax;
  }

  #ask(stream: HeldStream, usage: Usage): void {
    const step = Math.max(stepTokensMin, Math.floor(usage.output / 2));
    const tokens = Math.max(lastTokens, Math.min(step, this.#leftTokens));
    const lack = this.#lacks(usage, tokens);
    if (lack === null) return;
    this.#isAsking = true;
    this.#hold.extend(lack, (refusal) => this.#noteAnswer(stream, tokens, lack, refusal));
  }

  #noteAnswer(stream: HeldStream, tokens: number, lack: Taken, refusal: HoldRefusal | null): void {
    this.#isAsking = false;
    if (this.#isSettled) return;
    for (const each of this.#streams) each.holdBack(false);
    // Answers under way go on meanwhile: that is not their caller's fault.
    this.#isStoreAway = refusal?.kind === 'store-unavailable';
    if (refusal === null) {
      this.#held = sumOf(this.#held, lack);
      this.#leftTokens = Number.POSITIVE_INFINITY;
      return;
    }
    if (refusal.kind === 'store-unavailable') return;
    const { kind, remaining } = refusal.limit;
    const asked = kind === 'tokens-per-minute' ? lack.tokens : Number(lack.chargeNanoUsd);
    this.#leftTokens = Math.floor((tokens * Number(remaining)) / Math.max(1, asked));
    if (this.#leftTokens >= lastTokens || this.#lacks(this.#usageOf(stream), lastTokens) === null) return;
    const spent = faultOfHold(refusal, this.#call.caller.limits, null);
    for (const each of [...this.#streams]) each.endAtLimit(spent);
  }

  /** All that it has used, as an entry would have it now. */
  #usageOf({ reading, producedTokens }: HeldStream): Usage {
    const { facts } = this.#call.request;
    const estimates = { inputTokensEstimate: facts.inputTokensEstimate, outputTokensMax: this.#allowed };
    const { usage, source } = meter(reading, estimates, producedTokens);
    const known = source === 'none' ? { ...noUsage, inputFresh: facts.inputTokensEstimate } : usage;
    const output = Math.max(known.output, Math.min(producedTokens, this.#allowed ?? producedTokens));
    return { ...known, output: output + this.#tokensBefore };
  }

  get #allowed(): number | null {
    const { maxOutputTokens, choices } = this.#call.request.facts;
    return maxOutputTokens === null ? null : maxOutputTokens * choices;
  }

  /** All that the hold lacks for so many tokens more, as far as the caller allows them; null where it suffices. */
  #lacks(usage: Usage, more: number): Taken | null {
    const { multiplierPpm } = this.#call;
    const output = Math.max(
      usage.output,
      Math.min(usage.output + more, this.#allowed ?? Number.POSITIVE_INFINITY),
    );
    const needed = takenBy({ ...usage, output }, this.#model.price, multiplierPpm, this.#terms);
    const chargeNanoUsd = above(needed.chargeNanoUsd, this.#held.chargeNanoUsd);
    const tokens = Math.max(0, needed.tokens - this.#held.tokens);
    return chargeNanoUsd === zeroNanoUsd && tokens === 0 ? null : { chargeNanoUsd, tokens, images: 0 };
  }
}

/** An answer that is served without a price costs nothing, and its tokens count as those of any other. */
function isTaken({ unbilledReason }: CallEntry): boolean {
  return unbilledReason === null || unbilledReason === 'unpriced_model';
}

function above(needed: NanoUsd, held: NanoUsd): NanoUsd {
  return needed > held ? nanoUsd(needed - held) : zeroNanoUsd;
}

function sumOf(a: Taken, b: Taken): Taken {
  return {
    chargeNanoUsd: nanoUsd(a.chargeNanoUsd + b.chargeNanoUsd),
    tokens: a.tokens + b.tokens,
    images: a.images + b.images,
  };
}
