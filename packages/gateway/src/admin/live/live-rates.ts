import { totalInput, totalOutput } from '@headgate/protocols';
import { formatNanoUsd, nanoUsd } from '../../money/money.ts';
import { billableStatuses } from '../../money/postings.ts';
import type { CallEntry } from '../../ports/ledger.ts';

const minute = 60;

/** How many calls end, fail and cost in a second, as one audience sees it. */
export class LiveRates {
  #calls = 0;
  #failed = 0;
  #tokens = 0;
  #spent = 0n;
  readonly #spentInSeconds: bigint[] = [];

  /** `uncounted`: calls of which no more is known than that they have ended. */
  add(entries: readonly CallEntry[], uncounted: number): void {
    this.#calls += entries.length + uncounted;
    for (const { status, usage, chargeNanoUsd } of entries) {
      if (!billableStatuses.includes(status)) this.#failed++;
      this.#tokens += totalInput(usage) + totalOutput(usage);
      this.#spent += chargeNanoUsd;
    }
  }

  /** The rates of the second that is over; spending is that of the last minute, so far as it was looked on. */
  takeSecond() {
    this.#spentInSeconds.push(this.#spent);
    if (this.#spentInSeconds.length > minute) this.#spentInSeconds.shift();
    const inMinute = this.#spentInSeconds.reduce((sum, spent) => sum + spent, 0n);
    const rates = {
      callsPerSecond: this.#calls,
      failedPerSecond: this.#failed,
      tokensPerSecond: this.#tokens,
      spendPerMinute: formatNanoUsd(nanoUsd(inMinute)),
    };
    [this.#calls, this.#failed, this.#tokens, this.#spent] = [0, 0, 0, 0n];
    return rates;
  }
}
