import type { ModelView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Facts } from '../../ui/facts.tsx';
import * as texts from './texts.ts';

/** The classes of a price, a block for each tier of context or service. */
export function Tiers({ tiers }: { readonly tiers: ModelView['tiers'] }) {
  const t = useTexts(texts);
  if (tiers === null) return <p className="text-sm text-soft">{t('none')}</p>;
  return (
    <div className="flex flex-col gap-4">
      {tiers.map(({ service, aboveInputTokens, prices }) => {
        const above =
          aboveInputTokens === 0 ? [] : [t('above', { tokens: aboveInputTokens.toLocaleString('en') })];
        const name = [...(service === undefined ? [] : [service]), ...above].join(', ');
        return (
          <div key={name} className="flex flex-col gap-1.5">
            {(name !== '' || tiers.length > 1) && <h3 className="text-sm font-medium">{name || t('any')}</h3>}
            <Facts
              items={Object.entries(prices)
                .filter(
                  ([priceClass, price]) => price !== '0' || priceClass === 'input' || priceClass === 'output',
                )
                .map(([priceClass, price]) => ({ label: priceClass, value: `$${price}` }))}
            />
          </div>
        );
      })}
    </div>
  );
}
