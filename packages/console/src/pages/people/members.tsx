import type { MemberView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { useCursorList } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Time } from '../../ui/figures.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from '../profile/proof.tsx';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import * as texts from './texts.ts';

/** The people of one account: for everybody in it, and changed by who manages it. */
export function Members({ accountId }: { readonly accountId: string }) {
  const t = useTexts(texts);
  const { may } = useSession();
  const mayChange = may('admin', accountId);
  const members = useCursorList<MemberView>(`/accounts/${accountId}/members`);
  const queries = useQueryClient();
  const { attempt, dialog } = useProof();
  const [isInviting, setInviting] = useState(false);
  const [removed, setRemoved] = useState<MemberView | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: [`/accounts/${accountId}/members`] });
  const columns = useMemo(() => {
    const setRole = (member: MemberView, role: MemberView['role']) =>
      void attempt(async () => {
        await api.patch(`/accounts/${accountId}/members/${member.id}`, { body: { role } });
        await queries.invalidateQueries({ queryKey: [`/accounts/${accountId}/members`] });
      }).catch(toast.error);
    const shown = columnsOf(t);
    return mayChange ? [...shown, menuColumn(t, setRole, setRemoved)] : shown;
  }, [t, mayChange, accountId, attempt, queries]);
  const invite = mayChange && (
    <Button size="sm" icon={UserPlus} onClick={() => setInviting(true)}>
      {t('invite')}
    </Button>
  );
  return (
    <>
      <Section title={t('members')} description={t('membersDetail')} actions={invite} plain>
        <Table
          label={t('members')}
          columns={columns}
          query={members}
          rowKey={({ id }) => id}
          empty={<p className="px-4 py-6 text-center text-soft">{t('noMembers')}</p>}
        />
      </Section>
      {mayChange && <Invitations accountId={accountId} />}
      {isInviting && <InviteDialog accountId={accountId} onClose={() => setInviting(false)} />}
      <Confirm
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('removeMemberTitle', { name: removed?.name ?? '' })}
        description={t('removeMemberDetail')}
        confirmLabel={t('remove')}
        onConfirm={() =>
          attempt(async () => {
            await api.delete(`/accounts/${accountId}/members/${removed?.id ?? ''}`);
            await refresh();
          })
        }
      />
      {dialog}
    </>
  );
}

function columnsOf(t: Translate<typeof texts.en>): readonly Column<MemberView>[] {
  return [
    {
      id: 'name',
      header: t('name'),
      cell: ({ name, login }) => (login === name ? name : `${name} · ${login}`),
    },
    { id: 'role', header: t('role'), width: 140, cell: ({ role }) => t(`role.${role}`) },
    {
      id: 'seen',
      header: t('seen'),
      width: 120,
      hideBelow: 'sm',
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? t('never') : <Time iso={lastSeenAt} />),
    },
  ];
}

function menuColumn(
  t: Translate<typeof texts.en>,
  setRole: (member: MemberView, role: MemberView['role']) => void,
  onRemove: (member: MemberView) => void,
): Column<MemberView> {
  const groupsOf = (member: MemberView) => [
    {
      items: (['admin', 'member', 'viewer'] as const).map((role) => ({
        label: t(`role.${role}`),
        checked: role === member.role,
        onSelect: () => setRole(member, role),
      })),
    },
    { items: [{ label: t('remove'), danger: true, onSelect: () => onRemove(member) }] },
  ];
  return {
    id: 'menu',
    header: <span className="sr-only">{t('actions')}</span>,
    width: 56,
    align: 'end',
    cell: (member) => <Menu groups={groupsOf(member)} />,
  };
}
