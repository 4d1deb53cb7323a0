import type { PersonView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Role } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { useProof } from '../profile/proof.tsx';
import { useAccountNames } from './account-names.ts';
import * as texts from './texts.ts';

interface Membership {
  readonly account: string;
  readonly role: Role;
}

interface AccessDialogProps {
  readonly person: PersonView;
  readonly onClose: () => void;
}

/** Changes what somebody may do: operator or not, and a role in each account. */
export function AccessDialog(props: AccessDialogProps) {
  const t = useTexts(texts);
  const { person, onClose } = props;
  const access = useAccess(props);
  const { memberships, accounts, free, problem } = access;
  const footer = (
    <Button variant="primary" busy={access.isBusy} onClick={() => void access.save()}>
      {t('save')}
    </Button>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('accessTitle', { name: person.name })}
      description={t('accessDetail')}
      footer={footer}
    >
      <Checkbox
        label={t('isOperator')}
        hint={t('isOperatorHint')}
        checked={access.isOperator}
        onChange={access.setOperator}
      />
      {memberships.map(({ account, role }) => (
        <MembershipRow
          key={account}
          name={accounts.find(({ value }) => value === account)?.label ?? account}
          role={role}
          onChange={(next) => access.change(account, next)}
        />
      ))}
      {free.length > 0 && (
        <div>
          <Button size="sm" icon={Plus} onClick={access.add}>
            {t('addAccount')}
          </Button>
        </div>
      )}
      {problem !== null && (
        <Notice tone="bad">{problem instanceof Error ? problem.message : String(problem)}</Notice>
      )}
      {access.dialog}
    </Dialog>
  );
}

/** The access as it is being changed, and the way to save it. */
function useAccess({ person, onClose }: AccessDialogProps) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const proof = useProof();
  const accounts = useAccountNames();
  const [isOperator, setOperator] = useState(person.isOperator);
  const [memberships, setMemberships] = useState<readonly Membership[]>(
    person.memberships.map(({ account, role }) => ({ account, role })),
  );
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await proof.attempt(async () => {
        await api.patch(`/people/${person.id}`, { body: { isOperator, memberships } });
        toast.success(t('changed', { name: person.name }));
        onClose();
        await queries.invalidateQueries({ queryKey: ['/people'] });
      });
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const free = accounts.filter(({ value }) => !memberships.some(({ account }) => account === value));
  const change = (account: string, role: Role | null) =>
    setMemberships((before) =>
      before.flatMap((each) =>
        each.account !== account ? [each] : role === null ? [] : [{ account, role }],
      ),
    );
  const add = () => {
    const [first] = free;
    if (first !== undefined) setMemberships([...memberships, { account: first.value, role: 'member' }]);
  };
  const state = { isOperator, setOperator, memberships, accounts, free, problem, isBusy };
  return { ...state, change, add, save, dialog: proof.dialog };
}

interface MembershipRowProps {
  readonly name: string;
  readonly role: Role;
  readonly onChange: (role: Role | null) => void;
}

function MembershipRow({ name, role, onChange }: MembershipRowProps) {
  const t = useTexts(texts);
  const roles = (['admin', 'member', 'viewer'] as const).map((each) => ({
    value: each,
    label: t(`role.${each}`),
  }));
  return (
    <div className="flex items-end gap-2">
      <Field label={name} className="flex-1">
        <Select value={role} onChange={(next) => onChange(next as Role)} options={roles} />
      </Field>
      <IconButton icon={X} label={t('removeAccount', { account: name })} onClick={() => onChange(null)} />
    </div>
  );
}
