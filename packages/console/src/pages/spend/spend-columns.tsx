import type { SpendRow } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Count, Money, Percent } from '../../ui/figures.tsx';
import { PlainLink } from '../../ui/link.tsx';
import type { Column } from '../../ui/table.tsx';
import type { Dimension } from './spend-filters.ts';
import * as texts from './texts.ts';

/** The columns of the report; what calls cost is for operators. */
export function useSpendColumns(by: Dimension, total: number): readonly Column<SpendRow>[] {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  return useMemo(() => {
    const ofOperator: readonly Column<SpendRow>[] = [
      { ...money(t('cost')), id: 'cost', hideBelow: 'md', cell: ({ cost }) => <Money usd={cost} /> },
      { ...money(t('margin')), id: 'margin', hideBelow: 'lg', cell: ({ margin }) => <Money usd={margin} /> },
    ];
    return [
      { id: 'name', header: t(`by.${by}`), cell: (row) => <Named row={row} by={by} /> },
      {
        ...{ id: 'share', header: t('share'), hideBelow: 'md', align: 'end', width: 84 },
        cell: ({ charge }) => <Percent value={total === 0 ? null : Number(charge) / total} />,
      },
      {
        ...{ id: 'calls', header: t('calls'), hideBelow: 'sm', align: 'end', width: 110 },
        cell: ({ calls }) => <Count value={calls} />,
      },
      {
        ...{ id: 'input', header: t('input'), hideBelow: 'lg', align: 'end', width: 110 },
        cell: ({ inputTokens }) => <Count value={inputTokens} compact />,
      },
      {
        ...{ id: 'output', header: t('output'), hideBelow: 'lg', align: 'end', width: 110 },
        cell: ({ outputTokens }) => <Count value={outputTokens} compact />,
      },
      { ...money(t('charged')), id: 'charge', cell: ({ charge }) => <Money usd={charge} /> },
      ...(isOperator ? ofOperator : []),
    ];
  }, [t, by, total, isOperator]);
}

function money(header: string) {
  return { header, align: 'end', width: 116 } as const;
}

const pages = { key: '/keys/$id', account: '/accounts/$id', group: '/groups/$id' } as const;

/** The name, which leads to its page where it has one. */
function Named({ row: { id, name }, by }: { readonly row: SpendRow; readonly by: Dimension }) {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  if (id === null) return <span className="text-faint">{by === 'tag' ? t('noTag') : t('noneAnswered')}</span>;
  const shown = (
    <>
      <bdi>{name ?? id}</bdi>
      {name !== null && name !== id && <span className="ml-2 text-xs text-faint">{id}</span>}
    </>
  );
  const to = by === 'key' || by === 'account' || (by === 'group' && isOperator) ? pages[by] : null;
  if (to === null) return <span title={id}>{shown}</span>;
  return (
    <PlainLink to={to} params={{ id }} title={name ?? id} className="hover:underline">
      {shown}
    </PlainLink>
  );
}
