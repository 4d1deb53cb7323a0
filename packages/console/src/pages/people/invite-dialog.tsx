import type { InvitationMadeView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import type { Role } from '../../app/session.tsx';
import { useSession } from '../../app/session.tsx';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Pick } from '../../ui/pick.tsx';
import { useAccountNames } from './account-names.ts';
import { LinkDialog } from './link-dialog.tsx';
import * as texts from './texts.ts';

interface InviteDialogProps {
  /** The only account that may be invited to; any that the person manages if left out. */
  readonly accountId?: string;
  readonly onClose: () => void;
}

interface InvitationBody {
  readonly email: string | null;
  readonly isOperator?: boolean;
  readonly account?: string;
  readonly role?: Role;
  readonly days: number;
}

/** Makes an invitation, and shows its link once. */
export function InviteDialog({ accountId, onClose }: InviteDialogProps) {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  const accounts = useAccountNames(accountId === undefined);
  const [made, setMade] = useState<InvitationMadeView | null>(null);
  const invite = useChange<InvitationBody, InvitationMadeView>('POST', '/invitations', {
    invalidates: ['/invitations'],
    onDone: setMade,
  });
  const form = useForm({
    initial: { email: '', as: 'member', account: accountId ?? '', days: '7' },
    submit: ({ email, as, account, days }) =>
      invite.mutateAsync({
        body: {
          email: email === '' ? null : email,
          ...(as === 'operator'
            ? { isOperator: true }
            : { account: account || (accounts[0]?.value ?? ''), role: as as Role }),
          days: Number(days),
        },
      }),
  });
  if (made?.link) return <LinkDialog link={made.link} until={made.invitation.expiresAt} onClose={onClose} />;
  const roleOptions = rolesOf(t, isOperator && accountId === undefined);
  const dayOptions = (['1', '7', '30'] as const).map((days) => ({ value: days, label: t(`days_${days}`) }));
  return (
    <Dialog open onClose={onClose} title={t('inviteTitle')} description={t('inviteDetail')}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('emailOptional')} hint={t('emailHint')} {...form.about('email')}>
          <Input type="email" {...form.text('email')} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t('as')} {...form.about('as')}>
            <Select
              value={form.values.as}
              onChange={(value) => form.set('as', value)}
              options={roleOptions}
            />
          </Field>
          <Field label={t('days')} {...form.about('days')}>
            <Select
              value={form.values.days}
              onChange={(value) => form.set('days', value)}
              options={dayOptions}
            />
          </Field>
        </div>
        {form.values.as !== 'operator' && accountId === undefined && (
          <Field label={t('account')} {...form.about('account')}>
            <Pick
              value={form.values.account || (accounts[0]?.value ?? '')}
              onChange={(value) => form.set('account', value)}
              options={accounts}
            />
          </Field>
        )}
        {form.problem !== null && (
          <Notice tone="bad">
            {form.problem instanceof Error ? form.problem.message : String(form.problem)}
          </Notice>
        )}
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {t('makeLink')}
        </Button>
      </form>
    </Dialog>
  );
}

function rolesOf(t: Translate<typeof texts.en>, withOperator: boolean) {
  return [
    ...(['member', 'viewer', 'admin'] as const).map((role) => ({ value: role, label: t(`role.${role}`) })),
    ...(withOperator ? [{ value: 'operator', label: t('operator') }] : []),
  ];
}
