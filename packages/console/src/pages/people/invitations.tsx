import type { InvitationView } from '@headgate/gateway/console';
import { useMemo, useState } from 'react';
import { useChange, useCursorList } from '../../api/hooks.ts';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';

/** Invitations that nobody has accepted yet: of one account, or of all that the person manages. */
export function Invitations({ accountId }: { readonly accountId?: string }) {
  const t = useTexts(texts);
  const list = useCursorList<InvitationView>('/invitations', { account: accountId });
  const [withdrawn, setWithdrawn] = useState<InvitationView | null>(null);
  const withdraw = useChange('DELETE', '/invitations', { invalidates: ['/invitations'] });
  const columns = useMemo<readonly Column<InvitationView>[]>(
    () => [
      { id: 'email', header: t('email'), cell: ({ email }) => email ?? t('someone') },
      { id: 'as', header: t('invitedAs'), cell: (row) => invitedAs(row, t) },
      { id: 'by', header: t('by'), cell: ({ madeBy }) => madeBy, hideBelow: 'md' },
      {
        id: 'expires',
        header: t('expires'),
        width: 130,
        cell: ({ expiresAt }) => <Time iso={expiresAt} />,
        hideBelow: 'sm',
      },
      {
        id: 'withdraw',
        header: <span className="sr-only">{t('withdraw')}</span>,
        width: 110,
        align: 'end',
        cell: (row) => (
          <Button size="sm" variant="ghost" onClick={() => setWithdrawn(row)}>
            {t('withdraw')}
          </Button>
        ),
      },
    ],
    [t],
  );
  return (
    <Section title={t('invitations')} plain>
      <Table
        label={t('invitations')}
        columns={columns}
        query={list}
        rowKey={({ id }) => id}
        empty={<p className="px-4 py-6 text-center text-soft">{t('noInvitations')}</p>}
      />
      <Confirm
        open={withdrawn !== null}
        onClose={() => setWithdrawn(null)}
        title={t('withdrawTitle')}
        description={t('withdrawDetail')}
        confirmLabel={t('withdraw')}
        onConfirm={() => withdraw.mutateAsync({ path: `/invitations/${withdrawn?.id ?? ''}` })}
      />
    </Section>
  );
}

function invitedAs(
  { isOperator, role, account, accountName }: InvitationView,
  t: Translate<typeof texts.en>,
): string {
  if (isOperator || role === null) return t('operator');
  return t('roleIn', { role: t(`role.${role}`), account: accountName ?? account ?? '' });
}
