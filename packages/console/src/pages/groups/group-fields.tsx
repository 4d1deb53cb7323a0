import type { ChannelPage, GroupView, KeyChoicesView } from '@headgate/gateway/console';
import { useEffect } from 'react';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import type { useForm } from '../../ui/form.ts';
import { Checkbox } from '../../ui/toggle.tsx';
import { LimitFields, limitPatch, limitValues } from '../accounts/limit-fields.tsx';
import * as texts from './texts.ts';

const platforms = ['completions', 'messages', 'native'] as const;
const presets = ['balanced', 'cost', 'latency'] as const;

/** The values of the form of a group. */
export const newGroup = {
  ...{ id: '', name: '', platform: 'completions', multiplier: '1', models: [] as readonly string[] },
  ...{ 'routing.preset': 'balanced', 'routing.channels': [] as readonly string[] },
  ...{ hedging: false, rescue: false, timezone: 'UTC' },
  ...limitValues({ budgets: [], limits: null, alertAt: null }),
};

export type GroupFormValues = typeof newGroup;

/** A group as the form shows it. */
export function formOfGroup(group: GroupView): GroupFormValues {
  const { id, name, platform, multiplier, models, routing, timezone } = group;
  return {
    ...{ id, name, platform, multiplier, models: models ?? [], timezone },
    'routing.preset': routing.preset,
    'routing.channels': routing.channels ?? [],
    ...{ hedging: routing.hedging, rescue: routing.rescue === 'continue' },
    ...limitValues(group),
  };
}

/** The body that changes a group. */
export function patchOf(values: GroupFormValues): object {
  const channels = values['routing.channels'];
  return {
    ...{ name: values.name.trim() || values.id.trim(), multiplier: values.multiplier.trim() },
    models: values.models.length === 0 ? null : values.models,
    timezone: values.timezone.trim() || 'UTC',
    routing: {
      preset: values['routing.preset'],
      channels: channels.length === 0 ? null : channels,
      hedging: values.hedging,
      rescue: values.rescue ? 'continue' : 'none',
    },
    ...limitPatch(values),
  };
}

/** The body that makes one. */
export function draftOf(values: GroupFormValues): object {
  return { ...patchOf(values), id: values.id.trim(), platform: values.platform };
}

interface GroupFieldsProps {
  readonly form: ReturnType<typeof useForm<GroupFormValues, GroupView>>;
  /** Its id and its platform are chosen once. */
  readonly isNew: boolean;
}

/** The fields of a group. */
export function GroupFields({ form, isNew }: GroupFieldsProps) {
  const t = useTexts(texts);
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  return (
    <>
      {isNew && (
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
          <Field label="Id" hint={t('idHint')} required {...form.about('id')}>
            <Input {...form.text('id')} spellCheck={false} />
          </Field>
          <Field label={t('platform')} hint={t('platformHint')} {...form.about('platform')}>
            <Select
              value={form.values.platform}
              onChange={(platform) => form.set('platform', platform)}
              options={platforms.map((value) => ({ value, label: value }))}
            />
          </Field>
        </div>
      )}
      <Field label={t('name')} {...form.about('name')}>
        <Input {...form.text('name')} />
      </Field>
      <Field label={t('multiplier')} hint={t('multiplierHint')} {...form.about('multiplier')}>
        <Input {...form.text('multiplier')} inputMode="decimal" />
      </Field>
      <Field label={t('models')} hint={t('modelsHint')} {...form.about('models')}>
        <MultiCombobox
          values={form.values.models}
          onChange={(models) => form.set('models', models)}
          options={(choices.data?.models ?? []).map(({ id }) => ({ value: id, label: id }))}
          placeholder={t('all')}
        />
      </Field>
      <RoutingFields form={form} />
      <LimitFields form={form} />
    </>
  );
}

/** Ids of all channels, page after page: there may be a thousand. */
function useChannelIds(): readonly string[] {
  const { data, hasNextPage, isFetching, fetchNextPage } = useCursorList<ChannelPage['items'][number]>(
    '/channels',
    { limit: 200 },
    { staleMs: 60_000 },
  );
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return data?.pages.flatMap(({ items }) => items).map(({ id }) => id) ?? [];
}

function RoutingFields({ form }: Pick<GroupFieldsProps, 'form'>) {
  const t = useTexts(texts);
  const channels = useChannelIds();
  return (
    <>
      <Field label={t('preset')} hint={t('presetHint')} {...form.about('routing.preset')}>
        <Select
          value={form.values['routing.preset']}
          onChange={(preset) => form.set('routing.preset', preset)}
          options={presets.map((value) => ({ value, label: t(value) }))}
        />
      </Field>
      <Field label={t('channels')} hint={t('channelsHint')} {...form.about('routing.channels')}>
        <MultiCombobox
          values={form.values['routing.channels']}
          onChange={(ids) => form.set('routing.channels', ids)}
          options={channels.map((id) => ({ value: id, label: id }))}
          placeholder={t('all')}
        />
      </Field>
      <Checkbox
        checked={form.values.hedging}
        onChange={(hedging) => form.set('hedging', hedging)}
        label={t('hedging')}
        hint={t('hedgingHint')}
      />
      <Checkbox
        checked={form.values.rescue}
        onChange={(rescue) => form.set('rescue', rescue)}
        label={t('rescue')}
        hint={t('rescueHint')}
      />
    </>
  );
}
