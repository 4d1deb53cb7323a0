import type { Catalogue, Model, Target } from '../catalogue/catalogue.ts';
import { type CellCounts, cellMs, type Subject } from '../ports/status.ts';
import type { Outcome } from '../route/outcomes.ts';
import { ratesOf } from '../route/price-rates.ts';
import { subjectKey } from './incidents.ts';
import { callsMin } from './machine.ts';
import type { StatusTally } from './tally.ts';
import { verdictOnChannel } from './verdict.ts';

/** Sends a probe; false where it cannot be sent now. */
export type AskTarget = (target: Target, model: Model) => boolean;

/** The last part of a cell: calls that come until then need no probes beside them. */
const windowFromMs = 200_000;
const windowToMs = 285_000;
/** Targets of a model that are asked one after the other, as those of a call are. */
const targetsMax = 3;
/** A probe that may cost more is not sent: pico-dollars, a twentieth of a cent. */
const costMax = 5e8;
/** The tokens of a probe: those in, and those out, behind thoughts where there are always some. */
const [tokensIn, tokensOut, tokensThought] = [12, 1, 256];

/** A model that is being asked, and the targets that are left of it. */
interface Question {
  readonly model: Model;
  readonly targets: Target[];
  /** The one that is asked now. */
  asked: Target | null;
}

/** Has probes sent where a cell has too few calls to tell of a subject: those that were probed longest ago first. */
export class StatusProbes {
  readonly #ask: AskTarget;
  readonly #tally: StatusTally;
  readonly #startedAtMs: number;
  readonly #perCell: number;
  readonly #probedAt = new Map<string, number>();
  #waiting: Question[] = [];
  /** The cell whose probes have been chosen. */
  #chosen = -1;

  constructor(ask: AskTarget, tally: StatusTally, perCell: number, startedAtMs: number) {
    this.#ask = ask;
    this.#tally = tally;
    this.#perCell = perCell;
    this.#startedAtMs = startedAtMs;
  }

  /** True when it wants to know what has been counted in the running cell. A cell that began before this process did is not its own. */
  wantsCounts(nowMs: number): boolean {
    const at = nowMs % cellMs;
    const startMs = nowMs - at;
    if (this.#perCell === 0 || startMs < this.#startedAtMs || startMs === this.#chosen) return false;
    return at >= windowFromMs && at < windowToMs;
  }

  /** `counts` are those of the running cell, of all processes; null where another one sends its probes. */
  choose(catalogue: Catalogue, counts: readonly CellCounts[] | null, nowMs: number): void {
    this.#chosen = nowMs - (nowMs % cellMs);
    if (counts === null) return;
    const enough = new Set(counts.filter(isEnough).map(subjectKey));
    const lacks = (subject: Subject) => !enough.has(subjectKey(subject));
    const questions = [...catalogue.models.values()]
      .filter(({ isOffered }) => isOffered)
      .flatMap((model) => questionOf(model, lacks));
    const before = (question: Question) => this.#probedAt.get(question.model.id) ?? 0;
    this.#waiting = questions.sort((a, b) => before(a) - before(b)).slice(0, this.#perCell);
    for (const { model } of this.#waiting) this.#probedAt.set(model.id, nowMs);
  }

  /** Asks what can be asked now. Call it every second. */
  tick(nowMs: number): void {
    if (nowMs - (nowMs % cellMs) !== this.#chosen) this.#waiting = [];
    for (const question of this.#waiting) {
      const [target] = question.targets;
      if (question.asked !== null || target === undefined || !this.#ask(target, question.model)) continue;
      question.targets.shift();
      question.asked = target;
    }
  }

  /** A probe has ended, whoever wanted it. */
  probed(target: Target, modelId: string, outcome: Outcome, nowMs: number): void {
    const verdict = verdictOnChannel(outcome);
    if (verdict !== null)
      this.#tally.probed({ kind: 'channel', name: target.channel.id }, verdict === 'good', nowMs);
    const place = this.#waiting.findIndex(({ model, asked }) => model.id === modelId && asked === target);
    const question = this.#waiting[place];
    const isOver = verdict !== 'bad' || question?.targets.length === 0;
    if (verdict === 'good' || (verdict === 'bad' && question !== undefined && isOver))
      this.#tally.probed({ kind: 'model', name: modelId }, verdict === 'good', nowMs);
    if (question === undefined) return;
    question.asked = null;
    if (isOver) this.#waiting.splice(place, 1);
  }
}

function isEnough({ good, bad, probesGood, probesBad }: CellCounts): boolean {
  return good + bad >= callsMin || probesGood + probesBad > 0;
}

/** A model is asked where it lacks calls itself, or one of its channels does. Channels that lack them are asked first. */
function questionOf(model: Model, lacks: (subject: Subject) => boolean): readonly Question[] {
  const isLacking = (target: Target) => lacks({ kind: 'channel', name: target.channel.id });
  const able = model.targets.filter(
    (target) => target.channel.enabled && !target.channel.drain && costOf(target) <= costMax,
  );
  const targets = [...able.filter(isLacking), ...able.filter((target) => !isLacking(target))];
  const isWanted = lacks({ kind: 'model', name: model.id }) || able.some(isLacking);
  return targets.length === 0 || !isWanted
    ? []
    : [{ model, targets: targets.slice(0, targetsMax), asked: null }];
}

/** An upper estimate of what a probe there costs; nothing where nobody has said a price. */
function costOf({ cost, facts }: Target): number {
  const [rates] = cost === null ? [] : ratesOf(cost);
  if (rates === undefined) return 0;
  const thought = facts.reasoning.mode === 'always' ? tokensThought : 0;
  return tokensIn * rates.input + (tokensOut + thought) * rates.output + rates.perCall;
}
