const perCall = 0.2;
const perSecond = 1;
const budgetMax = 50;
const budgetAtStart = 10;

/**
 * Second attempts that may be spent while nothing looks healthy. It grows with calls and with time, and is spent only when
 * the best target left is more likely to fail than not: an unconditional budget refuses calls that healthy targets would serve.
 */
export class RetryBudget {
  #left = budgetAtStart;
  #atMs: number | null = null;

  called(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - (this.#atMs ?? nowMs));
    this.#atMs = nowMs;
    this.#left = Math.min(budgetMax, this.#left + perCall + (elapsedMs / 1000) * perSecond);
  }

  get canSpend(): boolean {
    return this.#left >= 1;
  }

  spend(): void {
    this.#left -= 1;
  }
}
