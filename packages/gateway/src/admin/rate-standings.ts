import { type DeclaredRates, type RateMember, rateMembers } from '../catalogue/limit-fields.ts';
import type { RateKind } from '../catalogue/limits.ts';
import { ratesOf } from '../catalogue/owner-limits.ts';
import type { Holds } from '../ports/holds.ts';
import type { KeyDirectory } from '../ports/key-directory.ts';
import { type LimitSubject, measureOf } from '../ports/leases.ts';

/** A rate as it stands. */
export interface RateStanding {
  /** As a file says it. */
  readonly rate: RateMember;
  /** Set where it is of one model. */
  readonly model: string | null;
  readonly amount: number;
  /** Within its window. */
  readonly used: number;
  /** Not used, but taken: by calls that run, or by processes for those that come. */
  readonly held: number;
}

/** The sources of whoever reads how rates stand. */
export interface RateReading {
  readonly keys: Pick<KeyDirectory, 'rates'>;
  /** Tells what a gateway in this process has leased and not taken; a command knows of none. */
  readonly idle: Holds['idle'];
}

/** The file's word for each rate. */
const memberOf: ReadonlyMap<RateKind, RateMember> = new Map(
  Object.entries(rateMembers).map(([member, kind]): [RateKind, RateMember] => [kind, member as RateMember]),
);

/** The rates of an owner, with what is taken of each now. */
export async function rateStandings(
  { keys, idle }: RateReading,
  subject: LimitSubject,
  declared: DeclaredRates | null,
): Promise<readonly RateStanding[]> {
  const rates = ratesOf(declared ?? {});
  if (rates.length === 0) return [];
  const found = new Map((await keys.rates(subject)).map((each) => [each.measure, each]));
  return rates.flatMap(({ kind, model, amount }) => {
    const rate = memberOf.get(kind);
    if (rate === undefined) return [];
    const measure = measureOf(kind, model);
    const { used = 0, leased = 0 } = found.get(measure) ?? {};
    const held = Math.max(0, leased - Number(idle({ subject, measure })));
    return [{ rate, model, amount, used, held }];
  });
}
