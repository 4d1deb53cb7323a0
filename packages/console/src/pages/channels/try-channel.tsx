import type { ChannelView, TrialView } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { ConnectionTest } from './connection-test.tsx';
import * as texts from './texts.ts';

interface TryChannelProps {
  readonly channel: ChannelView;
  readonly path: string;
  readonly onClose: () => void;
}

/** Tries a channel as it is, with each of its credentials. */
export function TryChannel({ channel, path, onClose }: TryChannelProps) {
  const t = useTexts(texts);
  const [trial, setTrial] = useState<TrialView | null>(null);
  const form = useForm({
    initial: { model: channel.targets[0]?.upstreamModel ?? '' },
    submit: ({ model }) => api.post<TrialView>(`${path}/trial`, { body: model === '' ? {} : { model } }),
    onDone: setTrial,
  });
  const models = [...new Set(channel.targets.map(({ upstreamModel }) => upstreamModel))];
  return (
    <Dialog
      open
      size="md"
      onClose={onClose}
      title={`${t('test')}: ${channel.id}`}
      footer={
        <Button variant="primary" busy={form.isBusy} onClick={() => void form.submit()}>
          {t('testConnection')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label={t('askModel')} hint={t('askModel.hint')}>
          <Select
            value={form.values.model}
            onChange={(value) => form.set('model', value)}
            options={[{ value: '', label: '–' }, ...models.map((value) => ({ value, label: value }))]}
          />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
        {trial !== null && <ConnectionTest trial={trial} />}
      </div>
    </Dialog>
  );
}
