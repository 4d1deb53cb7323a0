import type { AdjustedView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { Problem, wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import * as texts from './texts.ts';

interface AdjustProps {
  readonly id: string;
  readonly direction: 'credit' | 'debit';
  readonly onClose: () => void;
}

/** Gives money to an account, or takes it away, with a reason that stays. */
export function Adjust({ id, direction, onClose }: AdjustProps) {
  const t = useTexts(texts);
  const [mayForce, setMayForce] = useState(false);
  const send = useChange<object, AdjustedView>('POST', `/accounts/${id}/${direction}`, {
    invalidates: ['/accounts'],
  });
  const form = useForm({
    initial: { amount: '', reason: '', reference: '', force: false },
    submit: async ({ amount, reason, reference, force }) => {
      const named = reference.trim() === '' ? {} : { reference: reference.trim() };
      const body = { amount: amount.trim(), reason: reason.trim(), ...named, ...(force ? { force } : {}) };
      try {
        return await send.mutateAsync({ body });
      } catch (error) {
        if (error instanceof Problem && error.errors.some(({ field }) => field === 'force'))
          setMayForce(true);
        throw error;
      }
    },
    onDone: ({ balance }) => {
      toast.success(t('booked', { balance }));
      onClose();
    },
  });
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button variant="primary" busy={form.isBusy} onClick={() => void form.submit()}>
        {t(direction)}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t(direction)} description={t(`${direction}Detail`)} footer={footer}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('amountUsd')} required {...form.about('amount')}>
          <Input {...form.text('amount')} inputMode="decimal" placeholder="25.00" />
        </Field>
        <Field label={t('reason')} required {...form.about('reason')}>
          <Input {...form.text('reason')} maxLength={500} />
        </Field>
        <Field label={t('reference')} hint={t('referenceHint')} {...form.about('reference')}>
          <Input {...form.text('reference')} maxLength={200} />
        </Field>
        {mayForce && (
          <Field label={t('below')} {...form.about('force')}>
            <Checkbox
              checked={form.values.force}
              onChange={(force) => form.set('force', force)}
              label={t('force')}
            />
          </Field>
        )}
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      </form>
    </Dialog>
  );
}
