import { fail, type Result, succeed } from '@headgate/protocols';
import { priceAt } from '../catalogue/price-book.ts';
import type { OperatorPrice } from '../ports/configuration-store.ts';
import type { Store } from '../ports/store.ts';
import { type AuditedChange, type AuditTools, noting } from './audit.ts';
import { listPriceOf, type PriceTools, placeText, stepsOf } from './operator-prices.ts';
import { priceMoves } from './price-differences.ts';

/** A class of a price that changes at a moment. */
export interface PriceChange {
  readonly subject: string;
  /** Null is at once. */
  readonly from: string | null;
  readonly what: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Sets prices of the operator's own, or only says what would change; gives the changes. */
export async function setPrices(
  tools: PriceTools & AuditTools & { readonly store: Pick<Store, 'audit' | 'configuration'> },
  prices: readonly OperatorPrice[],
  isDry: boolean,
): Promise<readonly PriceChange[]> {
  const changes = stepsOf(tools, prices).flatMap(({ subject, fromMs, before, after }) =>
    priceMoves(before, after).map((move) => ({
      subject,
      from: fromMs === null ? null : new Date(fromMs).toISOString(),
      ...move,
    })),
  );
  if (isDry) return changes;
  await noting(tools, ...notesOf(changes)).configuration.setPrices(prices, tools.nowMs);
  return changes;
}

/** A note for each subject whose price has changed, with all that differs. */
function notesOf(changes: readonly PriceChange[]): readonly AuditedChange[] {
  return [...Map.groupBy(changes, (change) => change.subject)].map(([subject, own]) => {
    const side = (name: 'before' | 'after') => ({
      subject,
      from: own[0]?.from ?? null,
      tiers: Object.fromEntries(own.map((change) => [change.what, change[name]])),
    });
    return {
      action: 'price.change',
      ...{ target: { kind: 'price', id: subject, name: placeText(subject) }, accountId: null },
      ...{ before: side('before'), after: side('after') },
    };
  });
}

/** The price of a model as the catalogue lists it, to be set. */
export function listedPrice(tools: PriceTools, model: string): Result<OperatorPrice, string> {
  const found = listPriceOf(tools, { model, channel: null });
  const tiers = found === null ? null : priceAt(found.model, tools.nowMs);
  if (found === null || tiers === null) return fail(`the catalogue has no list price of "${model}"`);
  const { list } = found;
  const origin = { by: 'catalogue', list: list.id, asOf: list.asOf(found.model) } as const;
  return succeed({ subject: `model:${model}`, fromMs: null, tiers, origin, dropsPlanned: false });
}
