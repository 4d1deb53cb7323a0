import type { ChannelView, DeclarationView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange, useTagged } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Segments } from '../../ui/segments.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { ModelRows } from './model-rows.tsx';
import { OptionFields } from './option-fields.tsx';
import * as texts from './texts.ts';
import { formOf, optionsOf } from './written.ts';
import { modelsOfRows, rowsOf } from './written-models.ts';

interface EditChannelProps {
  readonly channel: ChannelView;
  readonly path: string;
  readonly etag: string | null;
  readonly onClose: () => void;
}

/** Changes what is written of a channel, by a form or as text; whoever changed it meanwhile is not overwritten. */
export function EditChannel(props: EditChannelProps) {
  const t = useTexts(texts);
  const [way, setWay] = useState<'form' | 'yaml'>('form');
  const [isBusy, setBusy] = useState(false);
  const { channel, onClose } = props;
  return (
    <Dialog
      open
      size="side"
      onClose={onClose}
      title={`${t('edit')}: ${channel.id}`}
      footer={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form="edit-channel" variant="primary" busy={isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Segments
          label={t('edit')}
          value={way}
          onChange={(next) => setWay(next === 'yaml' ? next : 'form')}
          options={[
            { value: 'form', label: t('asForm') },
            { value: 'yaml', label: 'YAML' },
          ]}
        />
        {way === 'form' ? (
          <FieldsForm {...props} onBusy={setBusy} />
        ) : (
          <TextForm {...props} onBusy={setBusy} />
        )}
      </div>
    </Dialog>
  );
}

interface FormProps extends EditChannelProps {
  readonly onBusy: (isBusy: boolean) => void;
}

function FieldsForm({ channel, path, etag, onClose, onBusy }: FormProps) {
  const t = useTexts(texts);
  // News that comes while somebody writes does not change what they began with.
  const [first] = useState({ written: channel.written, etag });
  const [rows, setRows] = useState(() => rowsOf(first.written['models']));
  const change = useChange<object, ChannelView>('PATCH', path, { invalidates: ['/channels', '/models'] });
  const form = useForm({
    initial: { ...formOf(first.written), models: '' },
    submit: (values) =>
      busily(onBusy, () =>
        change.mutateAsync({
          etag: first.etag,
          body: { ...optionsOf(values), models: modelsOfRows(rows) },
        }),
      ),
    onDone: () => {
      toast.success(t('saved'));
      onClose();
    },
  });
  const fields = form as never as Parameters<typeof OptionFields>[0]['form'];
  return (
    <>
      <form id="edit-channel" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('baseUrl')} hint={t('baseUrl.hint')} {...form.about('baseUrl')}>
          <Input {...form.text('baseUrl')} />
        </Field>
        <ModelRows rows={rows} onChange={setRows} {...form.about('models')} />
        <OptionFields form={fields} />
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </>
  );
}

/** The text has every member that a configuration file may write, also those that the form has no field for. */
function TextForm(props: FormProps) {
  const { path } = props;
  const text = useTagged<DeclarationView>(`${path}/declaration`, { staleMs: Number.POSITIVE_INFINITY });
  if (text.error) return <ErrorState error={text.error} onRetry={() => void text.refetch()} />;
  if (text.data === undefined || text.isRefetching) return <Skeleton className="h-96 w-full" />;
  return <TextFields {...props} yaml={text.data.value.yaml} seen={text.data.etag} />;
}

function TextFields({
  path,
  yaml,
  seen,
  onClose,
  onBusy,
}: FormProps & { readonly yaml: string; readonly seen: string | null }) {
  const t = useTexts(texts);
  const change = useChange<object, ChannelView>('PUT', `${path}/declaration`, {
    invalidates: ['/channels', '/models'],
  });
  const form = useForm({
    initial: { yaml },
    submit: (values) => busily(onBusy, () => change.mutateAsync({ etag: seen, body: values })),
    onDone: () => {
      toast.success(t('saved'));
      onClose();
    },
  });
  return (
    <>
      <form id="edit-channel" onSubmit={(event) => void form.submit(event)}>
        <Field label="YAML" hint={t('yamlHint')} {...form.about('yaml')}>
          <TextArea {...form.text('yaml')} rows={24} spellCheck={false} className="font-mono" />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </>
  );
}

async function busily<Done>(onBusy: (isBusy: boolean) => void, work: () => Promise<Done>): Promise<Done> {
  onBusy(true);
  try {
    return await work();
  } finally {
    onBusy(false);
  }
}
