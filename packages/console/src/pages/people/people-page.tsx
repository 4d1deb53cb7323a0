import type { OneTimeLinkView, PersonView } from '@headgate/gateway/console';
import { UserPlus, Users } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { useCursorList } from '../../api/hooks.ts';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from '../profile/proof.tsx';
import { AccessDialog } from './access-dialog.tsx';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { PersonConfirm, type PersonQuestion } from './person-confirm.tsx';
import * as texts from './texts.ts';

/** Everybody who may sign in, for operators. */
export function PeoplePage() {
  const t = useTexts(texts);
  const [{ search }] = useFilters(['search']);
  const people = useCursorList<PersonView>('/people', { search });
  const proof = useProof();
  const [isInviting, setInviting] = useState(false);
  const [changed, setChanged] = useState<PersonView | null>(null);
  const [asked, setAsked] = useState<PersonQuestion | null>(null);
  const [made, setMade] = useState<{ readonly link: OneTimeLinkView; readonly name: string } | null>(null);
  const { attempt } = proof;
  const columns = useMemo(() => {
    const makeLink = ({ id, name }: PersonView) =>
      void attempt(async () =>
        setMade({ link: await api.post<OneTimeLinkView>(`/people/${id}/password-link`), name }),
      ).catch(toast.error);
    return columnsOf(t, (person) => menuOf(t, person, { onChange: setChanged, onAsk: setAsked, makeLink }));
  }, [t, attempt]);
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Button variant="primary" icon={UserPlus} onClick={() => setInviting(true)}>
          {t('invite')}
        </Button>
      }
    >
      <FilterBar filters={[{ name: 'search', label: t('find'), kind: 'text' }]} />
      <Table
        label={t('title')}
        columns={columns}
        query={people}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={Users} title={t('emptyTitle')}>
            {t('emptyDetail')}
          </Empty>
        }
      />
      <Invitations />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {changed !== null && <AccessDialog person={changed} onClose={() => setChanged(null)} />}
      <PersonConfirm asked={asked} attempt={attempt} onClose={() => setAsked(null)} />
      {made?.link.link && (
        <LinkDialog
          link={made.link.link}
          until={made.link.expiresAt}
          name={made.name}
          onClose={() => setMade(null)}
        />
      )}
      {proof.dialog}
    </Page>
  );
}

type MenuGroups = Parameters<typeof Menu>[0]['groups'];

interface PersonActions {
  readonly onChange: (person: PersonView) => void;
  readonly onAsk: (question: PersonQuestion) => void;
  readonly makeLink: (person: PersonView) => void;
}

function menuOf(
  t: Translate<typeof texts.en>,
  person: PersonView,
  { onChange, onAsk, makeLink }: PersonActions,
): MenuGroups {
  const toggle = person.isDisabled ? 'enable' : 'disable';
  const lost = { label: t('removeTotp'), onSelect: () => onAsk({ kind: 'totp', person }) };
  return [
    {
      items: [
        { label: t('change'), onSelect: () => onChange(person) },
        { label: t('resetLink'), onSelect: () => makeLink(person) },
        ...(person.factors.includes('totp') ? [lost] : []),
      ],
    },
    {
      items: [
        { label: t(toggle), onSelect: () => onAsk({ kind: toggle, person }) },
        { label: t('remove'), danger: true, onSelect: () => onAsk({ kind: 'remove', person }) },
      ],
    },
  ];
}

function columnsOf(
  t: Translate<typeof texts.en>,
  menuOf: (person: PersonView) => MenuGroups,
): readonly Column<PersonView>[] {
  return [
    {
      id: 'name',
      header: t('name'),
      cell: ({ name, login }) => (
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="truncate font-medium">{name}</span>
          {login !== name && (
            <span className="hidden min-w-0 truncate text-xs text-soft sm:inline">{login}</span>
          )}
        </span>
      ),
    },
    { id: 'access', header: t('access'), cell: (person) => <Access person={person} /> },
    {
      id: 'ways',
      header: t('signsIn'),
      width: 180,
      hideBelow: 'lg',
      cell: ({ factors }) => factors.map((way) => t(`factor.${way}`)).join(', '),
    },
    {
      id: 'seen',
      header: t('seen'),
      width: 120,
      hideBelow: 'md',
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? t('never') : <Time iso={lastSeenAt} />),
    },
    {
      id: 'menu',
      header: <span className="sr-only">{t('actions')}</span>,
      width: 56,
      align: 'end',
      cell: (person) => <Menu groups={menuOf(person)} />,
    },
  ];
}

function Access({ person }: { readonly person: PersonView }) {
  const t = useTexts(texts);
  const { isOperator, isDisabled, memberships } = person;
  const words = memberships.map(({ role, accountName }) =>
    t('roleIn', { role: t(`role.${role}`), account: accountName }),
  );
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      {isDisabled && <Badge tone="bad">{t('disabled')}</Badge>}
      {isOperator && <Badge tone="accent">{t('operator')}</Badge>}
      <span className="truncate" title={words.join(', ')}>
        {words.length === 0 && !isOperator ? (
          <span className="text-soft">{t('noAccess')}</span>
        ) : (
          words.join(', ')
        )}
      </span>
    </span>
  );
}
