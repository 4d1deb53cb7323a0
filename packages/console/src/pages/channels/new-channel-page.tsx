import type { ChannelView, PresetView, TrialView } from '@headgate/gateway/console';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Link } from '../../ui/link.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { ConnectionFields } from './connection-fields.tsx';
import { ConnectionTest } from './connection-test.tsx';
import { type ChosenModels, DiscoveredModels, modelsOf } from './discovered-models.tsx';
import { OptionFields } from './option-fields.tsx';
import { PresetPicker } from './preset-picker.tsx';
import * as texts from './texts.ts';
import { credentialOf, optionsOf, startOf, type WrittenForm, withoutNull } from './written.ts';

/** A channel is made in one page: its provider, its connection, its models. */
export function NewChannelPage() {
  const t = useTexts(texts);
  const [preset, setPreset] = useState<PresetView | null>(null);
  const back = <Link to="/channels">{t('back')}</Link>;
  return (
    <Page title={preset === null ? t('new') : `${t('new')}: ${preset.name}`} back={back}>
      {preset === null ? (
        <Section title={t('pick')}>
          <PresetPicker onPick={setPreset} />
        </Section>
      ) : (
        <NewChannel key={preset.id} preset={preset} onBack={() => setPreset(null)} />
      )}
    </Page>
  );
}

function NewChannel({ preset, onBack }: { readonly preset: PresetView; readonly onBack: () => void }) {
  const t = useTexts(texts);
  const [trial, setTrial] = useState<TrialView | null>(null);
  const [chosen, setChosen] = useState<ChosenModels>({});
  const [more, setMore] = useState('');
  const [askModel, setAskModel] = useState('');
  const { form, test } = useDraft({ preset, chosen, more, askModel, onTrial: setTrial });
  const fields = form as never as Parameters<typeof OptionFields>[0]['form'];
  return (
    <>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-6">
        <Section
          title={t('connect')}
          actions={
            <Button variant="ghost" onClick={onBack}>
              {t('pick')}
            </Button>
          }
        >
          <div className="flex flex-col gap-4">
            <Field label={t('id')} hint={t('id.hint')} required {...form.about('id')} className="md:max-w-80">
              <Input {...form.text('id')} />
            </Field>
            <ConnectionFields form={fields} preset={preset} />
            <div className="flex flex-wrap items-end gap-3">
              <Field label={t('askModel')} hint={t('askModel.hint')} className="w-full md:w-96">
                <Input value={askModel} onChange={(event) => setAskModel(event.target.value)} />
              </Field>
              <Button busy={test.isBusy} onClick={() => void test.submit()} className="md:mb-5">
                {t('testConnection')}
              </Button>
            </div>
            {test.problem !== null && <ErrorState error={test.problem} />}
            {trial !== null && <ConnectionTest trial={trial} />}
          </div>
        </Section>
        <Section title={t('serve')} description={t('serve.hint')}>
          <DiscoveredModels
            models={trial?.models ?? []}
            chosen={chosen}
            onChange={setChosen}
            more={more}
            onMore={setMore}
          />
        </Section>
        <details>
          <summary className="cursor-pointer text-sm font-medium">{t('options')}</summary>
          <div className="pt-4">
            <OptionFields form={fields} />
          </div>
        </details>
        {form.problem !== null && <ErrorState error={form.problem} />}
        <div>
          <Button type="submit" variant="primary" busy={form.isBusy}>
            {t('create')}
          </Button>
        </div>
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
      <ProofFor problem={test.problem} again={test.submit} />
    </>
  );
}

function secretOf({ keptIn, secret }: WrittenForm): { secret?: string } {
  return keptIn === 'sealed' && secret !== '' ? { secret } : {};
}

interface DraftParts {
  readonly preset: PresetView;
  readonly chosen: ChosenModels;
  readonly more: string;
  /** Asked for one token, where it is not empty. */
  readonly askModel: string;
  readonly onTrial: (trial: TrialView) => void;
}

/** The form that makes the channel, and the one that tries it before. */
function useDraft({ preset, chosen, more, askModel, onTrial }: DraftParts) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const make = useChange<object, ChannelView>('POST', '/channels', { invalidates: ['/channels', '/models'] });
  const written = (values: WrittenForm) => ({
    provider: preset.id,
    ...withoutNull({ ...optionsOf(values), ...credentialOf(values) }),
  });
  const form = useForm({
    initial: { ...startOf(preset), id: preset.id, models: '' },
    submit: (values) =>
      make.mutateAsync({
        body: { id: values.id, ...written(values), models: modelsOf(chosen, more), ...secretOf(values) },
      }),
    onDone: ({ id }) => {
      toast.success(t('created', { id }));
      void navigate({ to: '/channels/$id', params: { id } });
    },
  });
  const test = useForm({
    initial: {},
    submit: () =>
      api.post<TrialView>('/channel-trials', {
        body: {
          channel: written(form.values),
          ...secretOf(form.values),
          ...(askModel.trim() === '' ? {} : { model: askModel.trim() }),
        },
      }),
    onDone: onTrial,
  });
  return { form, test };
}
