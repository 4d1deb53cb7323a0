import type { AccountItem } from '@headgate/gateway/console';
import { Plus, Wallet } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useChange, useCursorList } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Count, Money } from '../../ui/figures.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import * as texts from './texts.ts';

/** Who pays: all accounts for an operator, their own for everybody else. */
export function AccountsPage() {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  const [isMaking, setMaking] = useState(false);
  const accounts = useCursorList<AccountItem>('/accounts');
  const columns = useColumns();
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        isOperator && (
          <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
            {t('make')}
          </Button>
        )
      }
    >
      <Table
        label={t('title')}
        columns={columns}
        query={accounts}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/accounts/$id', params: { id } })}
        empty={<Empty title={t('none')} icon={Wallet} />}
      />
      {isMaking && <MakeAccount onClose={() => setMaking(false)} />}
    </Page>
  );
}

function useColumns(): readonly Column<AccountItem>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('name'),
        cell: ({ id, name, source }) => (
          <span className="flex min-w-0 items-center gap-2">
            <span className="min-w-0 truncate font-medium">{name}</span>
            <code className="hidden shrink-0 font-mono text-xs text-faint sm:inline">{id}</code>
            {source === 'file' && <Badge>{t('file')}</Badge>}
          </span>
        ),
        sortBy: ({ name }) => name,
      },
      {
        ...{ id: 'kind', header: t('kind'), width: 110, hideBelow: 'sm' },
        cell: ({ prepaid }) => t(prepaid ? 'prepaid' : 'postpaid'),
      },
      {
        ...{ id: 'balance', header: t('balance'), align: 'end', width: 120 },
        cell: ({ balance }) => <Money usd={balance} />,
        sortBy: ({ balance }) => Number(balance),
      },
      {
        ...{ id: 'available', header: t('available'), align: 'end', width: 120, hideBelow: 'md' },
        cell: ({ available }) => (available === null ? t('unlimited') : <Money usd={available} />),
      },
      {
        ...{ id: 'keys', header: t('keys'), align: 'end', width: 90, hideBelow: 'sm' },
        cell: ({ keys }) => <Count value={keys} />,
        sortBy: ({ keys }) => keys,
      },
    ],
    [t],
  );
}

function MakeAccount({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const make = useChange<object>('POST', '/accounts', { invalidates: ['/accounts', '/keys/choices'] });
  const form = useForm({
    initial: { id: '', name: '', prepaid: true, creditLimit: '' },
    submit: ({ id, name, prepaid, creditLimit }) =>
      make.mutateAsync({
        body: {
          ...{ id: id.trim(), prepaid },
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          ...(prepaid && creditLimit.trim() !== '' ? { creditLimit: creditLimit.trim() } : {}),
        },
      }),
    onDone: onClose,
  });
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button variant="primary" busy={form.isBusy} onClick={() => void form.submit()}>
        {t('make')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t('make')} footer={footer}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label="Id" hint={t('idHint')} required {...form.about('id')}>
          <Input {...form.text('id')} spellCheck={false} />
        </Field>
        <Field label={t('name')} {...form.about('name')}>
          <Input {...form.text('name')} />
        </Field>
        <Checkbox
          checked={form.values.prepaid}
          onChange={(prepaid) => form.set('prepaid', prepaid)}
          label={t('prepaid')}
          hint={t('prepaidHint')}
        />
        {form.values.prepaid && (
          <Field label={t('creditLimit')} hint={t('creditLimitHint')} {...form.about('creditLimit')}>
            <Input {...form.text('creditLimit')} inputMode="decimal" placeholder="0" />
          </Field>
        )}
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      </form>
    </Dialog>
  );
}
