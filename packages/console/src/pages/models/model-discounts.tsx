import type { AccountItem } from '@headgate/gateway/console';
import { useCursorList } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';

interface AccountDiscount {
  readonly account: AccountItem;
  readonly percent: string;
}

/** Accounts that pay less for a model than their groups; what they pay less is set on their own pages. */
export function ModelDiscounts({ model }: { readonly model: string }) {
  const t = useTexts(texts);
  const accounts = useCursorList<AccountItem>('/accounts');
  const rows = accounts.data?.pages
    .flatMap(({ items }) => items)
    .flatMap((account) => discountFor(account, model));
  const columns: readonly Column<AccountDiscount>[] = [
    {
      id: 'account',
      header: t('account'),
      width: 'grow',
      cell: ({ account }) => <bdi className="truncate">{account.name}</bdi>,
    },
    {
      ...{ id: 'percent', header: t('discount'), width: 120, align: 'end' },
      cell: ({ percent }) => `${percent} %`,
    },
  ];
  if (rows?.length === 0) return null;
  return (
    <Section title={t('discounts')} description={t('discounts.text')} plain>
      <Table
        label={t('discounts')}
        columns={columns}
        rows={rows}
        rowKey={({ account }) => account.id}
        rowLink={({ account }) => ({ to: '/accounts/$id', params: { id: account.id } })}
        empty={<Empty title={t('none')} />}
      />
    </Section>
  );
}

/** The first of an account's discounts that names the model holds, or else that of all. */
function discountFor(account: AccountItem, model: string): readonly AccountDiscount[] {
  const { discount } = account;
  if (discount === null) return [];
  const entries = Array.isArray(discount) ? discount : [{ percent: discount, models: undefined }];
  const held = entries.find(({ models }) => models?.includes(model) ?? true);
  return held === undefined || Number(held.percent) === 0 ? [] : [{ account, percent: String(held.percent) }];
}
