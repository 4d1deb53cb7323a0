import type { ChannelView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { toast } from '../../ui/toast.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { OptionFields } from './option-fields.tsx';
import * as texts from './texts.ts';
import { formOf, linesOf, optionsOf } from './written.ts';

interface EditChannelProps {
  readonly channel: ChannelView;
  readonly path: string;
  readonly etag: string | null;
  readonly onClose: () => void;
}

/** Changes what is written of a channel; whoever changed it meanwhile is not overwritten. */
export function EditChannel({ channel, path, etag, onClose }: EditChannelProps) {
  const t = useTexts(texts);
  // News that comes while somebody writes does not change what they began with.
  const [first] = useState({ written: channel.written, etag });
  const change = useChange<object, ChannelView>('PATCH', path, { invalidates: ['/channels', '/models'] });
  const served = recordOf(first.written['models']);
  const form = useForm({
    initial: { ...formOf(first.written), models: linesOfModels(served) },
    submit: (values) =>
      change.mutateAsync({
        etag: first.etag,
        body: { ...optionsOf(values), models: modelsOfLines(values.models, served) },
      }),
    onDone: () => {
      toast.success(t('saved'));
      onClose();
    },
  });
  const fields = form as never as Parameters<typeof OptionFields>[0]['form'];
  return (
    <Dialog
      open
      size="side"
      onClose={onClose}
      title={`${t('edit')}: ${channel.id}`}
      footer={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form="edit-channel" variant="primary" busy={form.isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      <form id="edit-channel" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('baseUrl')} hint={t('baseUrl.hint')} {...form.about('baseUrl')}>
          <Input {...form.text('baseUrl')} />
        </Field>
        <Field label={`${t('serve')}: ${t('public')} = ${t('upstream')}`} {...form.about('models')}>
          <TextArea {...form.text('models')} rows={8} className="font-mono" />
        </Field>
        <OptionFields form={fields} />
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </Dialog>
  );
}

type Served = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function linesOfModels(served: Served): string {
  return Object.entries(served)
    .map(([id, { upstream }]) => (typeof upstream === 'string' ? `${id} = ${upstream}` : id))
    .join('\n');
}

/** All else that is written of a model goes on. */
function modelsOfLines(text: string, served: Served): Served {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const [id = '', upstream = id] = line.split('=').map((part) => part.trim());
      const { upstream: _, ...rest } = served[id] ?? {};
      return [id, id === upstream ? rest : { ...rest, upstream }];
    }),
  );
}

function recordOf(value: unknown): Served {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
