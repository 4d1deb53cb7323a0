import type { KeyChoicesView, KeyPage, RoutePlanView } from '@headgate/gateway/console';
import { useEffect, useId, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { useForm } from '../../ui/form.ts';
import { Section } from '../../ui/page.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { RoutePlan } from './route-plan.tsx';
import * as texts from './texts.ts';

const surfaces = ['chat-completions', 'responses', 'messages', 'generate-content', 'images'];
const needs = [
  'tools',
  'image-input',
  'audio-input',
  'file-input',
  'audio-output',
  'structured-output',
] as const;

const emptyShape = {
  ...{ key: '', model: '', surface: '', inputTokens: '', maxOutputTokens: '', session: '', stream: true },
  needs: [] as readonly string[],
};

type RouteShape = typeof emptyShape;

/** The shape of a call, and the plan that it would have now. The address keeps whose call of what it is. */
export function DryRun() {
  const t = useTexts(texts);
  const [given, keep] = useFilters(['key', 'model']);
  const [plan, setPlan] = useState<RoutePlanView | null>(null);
  const form = useForm<RouteShape, RoutePlanView>({
    initial: { ...emptyShape, key: given['key'] ?? '', model: given['model'] ?? '' },
    submit: (question) => {
      keep({ key: question.key.trim() || undefined, model: question.model.trim() || undefined });
      return api.post<RoutePlanView>('/route/explain', { body: bodyOf(question) });
    },
    onDone: setPlan,
  });
  // Whoever is sent an address that says all that is needed is shown what it is about.
  const isAsked = useRef(given['key'] === undefined || given['model'] === undefined);
  useEffect(() => {
    if (isAsked.current) return;
    isAsked.current = true;
    void form.submit();
  });
  return (
    <Section title={t('dry')} description={t('dry.text')}>
      <div className="flex flex-col gap-5">
        <form
          aria-label={t('dry')}
          onSubmit={(event) => void form.submit(event)}
          className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-4"
        >
          <ShapeFields form={form} />
          <div className="sm:col-span-2 lg:col-span-4">
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

/** Fields left empty are left out: the gateway takes its own values for them. */
function bodyOf({ key, model, stream, surface, session, needs: needed, ...sizes }: RouteShape): object {
  const size = (text: string) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim());
  const named = Object.entries(sizes).filter(([, text]) => text.trim() !== '');
  return {
    ...{ key: key.trim(), model: model.trim(), stream, needs: needed },
    ...(surface === '' ? {} : { surface }),
    ...(session.trim() === '' ? {} : { session: session.trim() }),
    ...Object.fromEntries(named.map(([name, text]) => [name, size(text)])),
  };
}

function ShapeFields({ form }: { readonly form: ReturnType<typeof useForm<RouteShape, RoutePlanView>> }) {
  const t = useTexts(texts);
  return (
    <>
      <NamedFields form={form} />
      <Field label={t('surface')} {...form.about('surface')}>
        <Select
          value={form.values.surface}
          onChange={(value) => form.set('surface', value)}
          options={[{ value: '', label: t('usual') }, ...surfaces.map((value) => ({ value, label: value }))]}
        />
      </Field>
      <Field label={t('needs')} hint={t('needs.hint')} {...form.about('needs')}>
        <MultiCombobox
          values={form.values.needs}
          onChange={(values) => form.set('needs', values)}
          options={needs.map((value) => ({ value, label: t(`need.${value}`) }))}
        />
      </Field>
      <Field label={t('inputTokens')} {...form.about('inputTokens')}>
        <Input {...form.text('inputTokens')} inputMode="numeric" placeholder="1000" />
      </Field>
      <Field label={t('maxOutputTokens')} {...form.about('maxOutputTokens')}>
        <Input {...form.text('maxOutputTokens')} inputMode="numeric" />
      </Field>
      <Field label={t('session')} hint={t('session.hint')} {...form.about('session')}>
        <Input {...form.text('session')} spellCheck={false} />
      </Field>
      <Switch
        checked={form.values.stream}
        onChange={(value) => form.set('stream', value)}
        label={t('stream')}
      />
    </>
  );
}

/** Keys are proposed as they are typed, as there may be thousands; an id and the beginning of one will do as well. */
function NamedFields({ form }: { readonly form: ReturnType<typeof useForm<RouteShape, RoutePlanView>> }) {
  const t = useTexts(texts);
  const [keysId, modelsId] = [useId(), useId()];
  const [isTyping, setTyping] = useState(false);
  const typed = form.values.key.trim();
  const found = { limit: 20, ...(typed === '' ? {} : { q: typed.slice(0, 200) }) };
  const keys = useGet<KeyPage>('/keys', found, { enabled: isTyping });
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { enabled: isTyping, staleMs: 60_000 });
  return (
    <>
      <Field label={t('key')} hint={t('key.hint')} required {...form.about('key')}>
        <Input {...form.text('key')} list={keysId} spellCheck={false} onFocus={() => setTyping(true)} />
        <datalist id={keysId}>
          {keys.data?.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </datalist>
      </Field>
      <Field label={t('model')} required {...form.about('model')}>
        <Input {...form.text('model')} list={modelsId} spellCheck={false} onFocus={() => setTyping(true)} />
        <datalist id={modelsId}>
          {choices.data?.models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </Field>
    </>
  );
}
