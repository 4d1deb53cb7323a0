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
import { toast } from '../../ui/toast.tsx';
import { filled } from '../channels/written-models.ts';
import { PriceChanges } from './price-changes.tsx';
import { PriceFields, type WrittenParts } from './price-fields.tsx';
import * as texts from './texts.ts';

interface SetPriceProps {
  readonly model: ModelView;
  readonly onClose: () => void;
}

const callers = '';

/** Sets what callers pay for a model, or what it costs on a channel, from now on or from a day. */
export function SetPrice({ model, onClose }: SetPriceProps) {
  const t = useTexts(texts);
  const { form, preview, changes, parts, setParts } = usePriceForm(model, onClose);
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
        <div className="sm:col-span-2">
          <PriceFields value={parts} onChange={setParts} />
        </div>
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
            <PriceChanges changes={changes} />
          </div>
        )}
      </form>
    </Dialog>
  );
}

/** The members that are written, as the configuration file has them. */
function bodyOf(model: string, channel: string, from: string, parts: WrittenParts): object {
  const price = { ...(from.trim() === '' ? {} : { from: from.trim() }), ...filled(parts) };
  return channel === callers ? { prices: { [model]: price } } : { costs: { [channel]: { [model]: price } } };
}

/** The form that sets the price, and what it would change. */
function usePriceForm(model: ModelView, onClose: () => void) {
  const t = useTexts(texts);
  const [changes, setChanges] = useState<ChangesView | null>(null);
  const change = useChange<object, ChangesView>('POST', '/prices', { invalidates: ['/models', '/price'] });
  const now = model.tiers?.[0]?.prices ?? {};
  const [parts, setParts] = useState<WrittenParts>({
    input: now['input'] ?? '',
    output: now['output'] ?? '',
  });
  const form = useForm({
    initial: {
      ...{ channel: callers, from: '' },
    },
    submit: ({ channel, from }) => change.mutateAsync({ body: bodyOf(model.model, channel, from, parts) }),
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
        body: bodyOf(model.model, form.values.channel, form.values.from, parts),
      }),
    onDone: setChanges,
  });
  return { form, preview, changes, parts, setParts };
}
