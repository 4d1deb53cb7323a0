import type { PresetView } from '@headgate/gateway/console';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Link } from '../../ui/link.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { useChannelDraft } from './channel-draft.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { ConnectionTest } from './connection-test.tsx';
import { DiscoveredModels } from './discovered-models.tsx';
import { OptionFields } from './option-fields.tsx';
import { PresetPicker } from './preset-picker.tsx';
import * as texts from './texts.ts';

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
  const navigate = useNavigate();
  const { form, test, trial, ...draft } = useChannelDraft({
    preset,
    onMade: ({ id }) => {
      toast.success(t('created', { id }));
      void navigate({ to: '/channels/$id', params: { id } });
    },
  });
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
                <Input value={draft.askModel} onChange={(event) => draft.setAskModel(event.target.value)} />
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
            chosen={draft.chosen}
            onChange={draft.setChosen}
            more={draft.more}
            onMore={draft.setMore}
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
