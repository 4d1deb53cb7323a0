import type { CallView } from '@headgate/gateway/console';
import type { ReactNode } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Count } from '../../ui/figures.tsx';
import { countText } from '../../ui/numbers.ts';
import * as texts from './texts.ts';
import { useWords } from './words.ts';

const cell = 'border-b border-line px-3 py-1.5';

/** Shows where the charge comes from: units times prices, their sum, and the multiplier; each amount is exact. */
export function Charge({ call: { formula } }: { readonly call: CallView }) {
  const t = useTexts(texts);
  const word = useWords('part');
  if (formula === null) return <p className="p-4 text-soft">{t('noPrice')}</p>;
  const above = Math.max(0, ...formula.lines.map((line) => line.aboveInputTokens));
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-separate border-spacing-0">
        <thead className="text-xs text-soft">
          <tr>
            <th scope="col" className={`${cell} text-left font-medium`}>
              {t('part')}
            </th>
            <th scope="col" className={`${cell} text-right font-medium`}>
              {t('units')}
            </th>
            <th scope="col" className={`${cell} text-right font-medium`}>
              {t('price')}
            </th>
            <th scope="col" className={`${cell} text-right font-medium`}>
              {t('amount')}
            </th>
          </tr>
        </thead>
        <tbody>
          {formula.lines.map((line) => (
            <tr key={`${line.part} ${line.price} ${line.units} ${line.aboveInputTokens}`}>
              <td className={cell}>{word(line.part)}</td>
              <td className={`${cell} text-right`}>
                <Count value={line.units} />
              </td>
              <td className={`${cell} text-right`}>
                × <Price price={line.price} />
                {line.factor === '1' ? '' : ` × ${line.factor}`}
              </td>
              <td className={`${cell} text-right font-mono text-xs`}>${line.amount}</td>
            </tr>
          ))}
          <SumLine label={t('sum')} amount={formula.sum} />
          {formula.multiplier !== '1' && (
            <SumLine label={t('multiplier')} amount={`× ${formula.multiplier}`} isFactor />
          )}
          <SumLine
            label={<strong className="font-semibold">{t('charged')}</strong>}
            amount={formula.charge}
          />
        </tbody>
      </table>
      <p className="px-3 py-2 text-xs text-soft">
        {t('rounded')}
        {above > 0 && ` · ${t('context', { tokens: countText(above) })}`}
      </p>
    </div>
  );
}

interface SumLineProps {
  readonly label: ReactNode;
  readonly amount: string;
  readonly isFactor?: boolean;
}

function SumLine({ label, amount, isFactor = false }: SumLineProps) {
  return (
    <tr>
      <td className={cell} colSpan={3}>
        {label}
      </td>
      <td className={`${cell} text-right font-mono text-xs`}>{isFactor ? amount : `$${amount}`}</td>
    </tr>
  );
}

/** Prices of tokens are so small that people say them by the million. */
function Price({ price }: { readonly price: string }) {
  const t = useTexts(texts);
  const [whole = '0', part = ''] = price.split('.');
  if (whole !== '0' || part.search(/[1-9]/) < 4) return <>${price}</>;
  const shifted = part.padEnd(6, '0');
  const units = shifted.slice(0, 6).replace(/^0+(?=\d)/, '');
  const rest = shifted.slice(6).replace(/0+$/, '');
  return (
    <>
      ${units}
      {rest === '' ? '' : `.${rest}`} <span className="text-xs text-soft">{t('perMillion')}</span>
    </>
  );
}
