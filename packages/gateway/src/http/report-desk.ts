import { type Fault, fail, fault, type Result } from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';
import type { Clock } from '../ports/clock.ts';
import { StoreUnavailable } from '../ports/store.ts';
import { answerUsage, type UsageAnswer, type UsageSources } from './usage.ts';

/** Reports that may be under way at once: of a key, of all keys of an account, and of all callers. */
const [keyMax, accountMax, allMax] = [2, 4, 32];
/** A report that has not been made by then is given up between two of its parts. */
const reportMs = 10_000;
const retryAfterMs = 1_000;

type Asker = Pick<Caller, 'keyId' | 'accountId'>;

class Overdue extends Error {}

/**
 * Takes callers' questions for reports. One thread makes them, each a part at a time, so that all that are under way go on together; their number
 * has a bound, and who asks for more than a share is refused alone (ADR 34).
 */
export class ReportDesk {
  readonly #sources: UsageSources;
  readonly #clock: Clock;
  readonly #underWay = new Map<string, number>();
  #count = 0;

  constructor(sources: UsageSources, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /** Never rejects for what the store does; `onTrouble` hears why it cannot be asked. */
  async usage(
    search: string,
    caller: Caller,
    onTrouble: (error: StoreUnavailable) => void,
  ): Promise<Result<UsageAnswer, Fault>> {
    const refusal = this.#refusal(caller);
    if (refusal !== null) return fail(refusal);
    this.#move(caller, 1);
    const endsAt = this.#clock.monotonic() + reportMs;
    const checkTime = () => {
      if (this.#clock.monotonic() >= endsAt) throw new Overdue();
    };
    try {
      return await answerUsage(search, caller, this.#sources, this.#clock.now(), checkTime);
    } catch (error) {
      if (error instanceof Overdue) return fail(fault('overloaded', { message: overdueText, retryAfterMs }));
      if (!(error instanceof StoreUnavailable)) throw error;
      onTrouble(error);
      return fail(fault('store_unavailable', { retryAfterMs }));
    } finally {
      this.#move(caller, -1);
    }
  }

  #refusal({ keyId, accountId }: Asker): Fault | null {
    const of = (name: string) => this.#underWay.get(name) ?? 0;
    if (of(`key ${keyId}`) >= keyMax) return tooMany('key', keyMax);
    if (of(`account ${accountId}`) >= accountMax) return tooMany('account', accountMax);
    return this.#count >= allMax ? fault('overloaded', { message: crowdedText, retryAfterMs }) : null;
  }

  #move({ keyId, accountId }: Asker, change: 1 | -1): void {
    this.#count += change;
    for (const name of [`key ${keyId}`, `account ${accountId}`]) {
      const count = (this.#underWay.get(name) ?? 0) + change;
      if (count > 0) this.#underWay.set(name, count);
      else this.#underWay.delete(name);
    }
  }
}

const overdueText = 'The report was not made in time, as many are asked for; try again shortly.';
const crowdedText = 'Too many reports are being made; try again shortly.';

function tooMany(whose: 'key' | 'account', max: number): Fault {
  const message = `${max} reports of this ${whose} are being made already; ask for the next when one of them has come.`;
  return fault('rate_limited', { message, retryAfterMs });
}
