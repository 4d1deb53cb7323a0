import type { ChangesView, ModelView } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';

interface SetPriceProps {
  readonly model: ModelView;
  readonly onClose: () => void;
}

const callers = '';

/** Sets what callers pay for a model, or what it costs on a channel, from now on or from a day. */
export function SetPrice({ model, onClose }: SetPriceProps) {
  const t = useTexts(texts);
  const { form, preview, changes } = usePriceForm(model, onClose);
  const targets = [
    { value: callers, label: t('forChannel.callers') },
    ...model.costs.map(({ channel }) => ({ value: channel, label: t('forChannel.cost', { channel }) })),
  ];
  const problem = form.problem ?? preview.problem;
  return (
    <Dialog
      open
      size="md"
      onClose={onClose}
      title={t('setTitle', { model: model.model })}
      description={t('perMillion')}
      footer={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button busy={preview.isBusy} onClick={() => void preview.submit()}>
            {t('preview')}
          </Button>
          <Button type="submit" form="set-price" variant="primary" busy={form.isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      <form
        id="set-price"
        onSubmit={(event) => void form.submit(event)}
        className="grid gap-4 sm:grid-cols-2"
      >
        <Field label={t('forChannel')} className="sm:col-span-2">
          <Select
            value={form.values.channel}
            onChange={(value) => form.set('channel', value)}
            options={targets}
          />
        </Field>
        <Field label={t('input')} required>
          <Input {...form.text('input')} inputMode="decimal" />
        </Field>
        <Field label={t('output')} required>
          <Input {...form.text('output')} inputMode="decimal" />
        </Field>
        <Field label={t('cacheRead')} hint={t('optional')}>
          <Input {...form.text('cacheRead')} inputMode="decimal" />
        </Field>
        <Field label={t('cacheWrite')} hint={t('optional')}>
          <Input {...form.text('cacheWrite5m')} inputMode="decimal" />
        </Field>
        <Field label={t('when')} hint={t('when.hint')} className="sm:col-span-2">
          <Input {...form.text('from')} placeholder="2027-01-01" />
        </Field>
        {problem !== null && (
          <div className="sm:col-span-2">
            <ErrorState error={problem} />
          </div>
        )}
        {changes !== null && (
          <div className="sm:col-span-2">
            <Changes changes={changes} />
          </div>
        )}
      </form>
    </Dialog>
  );
}

function Changes({ changes }: { readonly changes: ChangesView }) {
  const t = useTexts(texts);
  if (changes.items.length === 0) return <Notice>{t('nothing')}</Notice>;
  return (
    <Notice>
      <ul className="tabular-nums">
        {changes.items.map(({ from, what, before, after }) => (
          <li
            key={`${from} ${what}`}
          >{`${from === null ? t('now') : from.slice(0, 16)} · ${what}: ${before ?? '–'} → ${after ?? '–'}`}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** The members that are written, as the configuration file has them. */
function bodyOf(model: string, { channel, ...values }: Readonly<Record<string, string>>): object {
  const price = Object.fromEntries(Object.entries(values).filter(([, value]) => value?.trim() !== ''));
  return channel === undefined || channel === callers
    ? { prices: { [model]: price } }
    : { costs: { [channel]: { [model]: price } } };
}

/** The form that sets the price, and what it would change. */
function usePriceForm(model: ModelView, onClose: () => void) {
  const t = useTexts(texts);
  const [changes, setChanges] = useState<ChangesView | null>(null);
  const change = useChange<object, ChangesView>('POST', '/prices', { invalidates: ['/models', '/price'] });
  const now = model.tiers?.[0]?.prices ?? {};
  const form = useForm({
    initial: {
      ...{ channel: callers, input: now['input'] ?? '', output: now['output'] ?? '' },
      ...{ cacheRead: '', cacheWrite5m: '', from: '' },
    },
    submit: (values) => change.mutateAsync({ body: bodyOf(model.model, values) }),
    onDone: () => {
      toast.success(t('done'));
      onClose();
    },
  });
  const preview = useForm({
    initial: {},
    submit: () =>
      api.post<ChangesView>('/prices', {
        query: { preview: 'true' },
        body: bodyOf(model.model, form.values),
      }),
    onDone: setChanges,
  });
  return { form, preview, changes };
}
