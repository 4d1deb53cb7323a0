import type { PastRouteView, RoutePlanView } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { useForm } from '../../ui/form.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { PastRoute } from './past-route.tsx';
import { RoutePlan } from './route-plan.tsx';
import * as texts from './texts.ts';

const surfaces = ['chat-completions', 'responses', 'messages', 'generate-content', 'images'];

/** The route that a call would take now, and those that calls have taken. */
export function RoutingPage() {
  const t = useTexts(texts);
  return (
    <Page title={t('title')} description={t('description')}>
      <DryRun />
      <Replay />
    </Page>
  );
}

function DryRun() {
  const t = useTexts(texts);
  const [given] = useFilters(['key', 'model']);
  const [plan, setPlan] = useState<RoutePlanView | null>(null);
  const form = useForm({
    initial: {
      key: given['key'] ?? '',
      model: given['model'] ?? '',
      surface: '',
      inputTokens: '',
      stream: true,
    },
    submit: ({ key, model, surface, inputTokens, stream }) =>
      api.post<RoutePlanView>('/route/explain', {
        body: {
          ...{ key: key.trim(), model: model.trim(), stream },
          ...(surface === '' ? {} : { surface }),
          ...(inputTokens.trim() === '' ? {} : { inputTokens: Number(inputTokens) }),
        },
      }),
    onDone: setPlan,
  });
  return (
    <Section title={t('dry')} description={t('dry.text')}>
      <div className="flex flex-col gap-5">
        <form
          onSubmit={(event) => void form.submit(event)}
          className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-4"
        >
          <Field label={t('key')} hint={t('key.hint')} required {...form.about('key')}>
            <Input {...form.text('key')} />
          </Field>
          <Field label={t('model')} required {...form.about('model')}>
            <Input {...form.text('model')} />
          </Field>
          <Field label={t('surface')} {...form.about('surface')}>
            <Select
              value={form.values.surface}
              onChange={(value) => form.set('surface', value)}
              options={[
                { value: '', label: t('usual') },
                ...surfaces.map((value) => ({ value, label: value })),
              ]}
            />
          </Field>
          <Field label={t('inputTokens')} {...form.about('inputTokens')}>
            <Input {...form.text('inputTokens')} inputMode="numeric" placeholder="1000" />
          </Field>
          <Switch
            checked={form.values.stream}
            onChange={(value) => form.set('stream', value)}
            label={t('stream')}
          />
          <div className="sm:col-span-2 lg:col-span-3">
            <Button type="submit" variant="primary" busy={form.isBusy}>
              {t('ask')}
            </Button>
          </div>
        </form>
        {form.problem !== null && <ErrorState error={form.problem} />}
        {plan !== null && <RoutePlan plan={plan} />}
      </div>
    </Section>
  );
}

function Replay() {
  const t = useTexts(texts);
  const [given] = useFilters(['trace']);
  const [past, setPast] = useState<PastRouteView | null>(null);
  const form = useForm({
    initial: { trace: given['trace'] ?? '' },
    submit: ({ trace }) => api.get<PastRouteView>(`/calls/${encodeURIComponent(trace.trim() || '-')}/route`),
    onDone: setPast,
  });
  return (
    <Section title={t('past')}>
      <div className="flex flex-col gap-5">
        <form onSubmit={(event) => void form.submit(event)} className="flex flex-wrap items-start gap-3">
          <Field
            label={t('trace')}
            hint={t('trace.hint')}
            className="w-full sm:w-96"
            {...form.about('trace')}
          >
            <Input {...form.text('trace')} className="font-mono" />
          </Field>
          <Button type="submit" busy={form.isBusy} className="sm:mt-6">
            {t('replay')}
          </Button>
        </form>
        {form.problem !== null && <ErrorState error={form.problem} />}
        {past !== null && <PastRoute past={past} />}
      </div>
    </Section>
  );
}
