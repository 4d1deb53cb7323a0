import type { UsualOutputs } from '../../ports/gateway.ts';

/** Answers that are looked back on before a half of them is forgotten. */
const answersMax = 1_000;
/** Fewer answers tell nothing of the longest in a hundred. */
const answersMin = 16;
/** Steps of a doubling: the next one is a tenth larger. */
const stepsPerDoubling = 8;
const stepsMax = stepsPerDoubling * 24;

/** How long the answers to one key by one model have been. */
class OutputLengths {
  readonly #counts = new Uint16Array(stepsMax);
  #answers = 0;
  #longestStep = 0;

  note(tokens: number): void {
    if (this.#answers >= answersMax) this.#forgetHalf();
    const step = Math.min(stepsMax - 1, Math.ceil(stepsPerDoubling * Math.log2(tokens + 1)));
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#answers++;
    this.#longestStep = Math.max(this.#longestStep, step);
  }

  /** No less than it is, and a tenth more at the most. */
  get usualMax(): number | null {
    if (this.#answers < answersMin) return null;
    let step = this.#longestStep;
    for (let longer = this.#counts[step] ?? 0; longer * 100 <= this.#answers && step > 0; )
      longer += this.#counts[--step] ?? 0;
    return Math.ceil(2 ** (step / stepsPerDoubling) - 1);
  }

  #forgetHalf(): void {
    this.#answers = 0;
    for (let step = 0; step <= this.#longestStep; step++) {
      const half = (this.#counts[step] ?? 0) >> 1;
      this.#counts[step] = half;
      this.#answers += half;
    }
    while (this.#longestStep > 0 && this.#counts[this.#longestStep] === 0) this.#longestStep--;
  }
}

/** Remembers lengths of answers, by key and model, for holds. It knows no time: what is old is forgotten by what is new. */
export class AnswerLengths implements UsualOutputs {
  readonly #pairsMax: number;
  readonly #pairs = new Map<string, OutputLengths>();

  constructor(pairsMax = 10_000) {
    this.#pairsMax = pairsMax;
  }

  note(keyId: string, modelId: string, tokens: number): void {
    const pair = `${keyId} ${modelId}`;
    let lengths = this.#pairs.get(pair);
    if (lengths === undefined) {
      if (this.#pairs.size >= this.#pairsMax) this.#forgetOldest();
      lengths = new OutputLengths();
      this.#pairs.set(pair, lengths);
    }
    lengths.note(tokens);
  }

  usualMax(keyId: string, modelId: string): number | null {
    return this.#pairs.get(`${keyId} ${modelId}`)?.usualMax ?? null;
  }

  #forgetOldest(): void {
    for (const oldest of this.#pairs.keys()) {
      this.#pairs.delete(oldest);
      return;
    }
  }
}
