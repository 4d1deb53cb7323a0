import type { ChannelView, PresetView, TrialView } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useChange } from '../../api/hooks.ts';
import { useForm } from '../../ui/form.ts';
import { type ChosenModels, modelsOf } from './discovered-models.tsx';
import { credentialOf, optionsOf, startOf, type WrittenForm, withoutNull } from './written.ts';

interface DraftOptions {
  readonly preset: PresetView;
  readonly onMade: (channel: ChannelView) => void;
  /** Models that are chosen as soon as they are found. */
  readonly chosenAtOnce?: (models: TrialView['models']) => ChosenModels;
}

/** A channel that is being made of a preset: its form, its test, and the models that it is to serve. */
export function useChannelDraft({ preset, onMade, chosenAtOnce }: DraftOptions) {
  const [trial, setTrial] = useState<TrialView | null>(null);
  const [chosen, setChosen] = useState<ChosenModels>({});
  const [more, setMore] = useState('');
  const [askModel, setAskModel] = useState('');
  const make = useChange<object, ChannelView>('POST', '/channels', {
    invalidates: ['/channels', '/models', '/keys/choices'],
  });
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
    onDone: onMade,
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
    onDone: (found) => {
      setTrial(found);
      if (chosenAtOnce !== undefined && found.models.length > 0) setChosen(chosenAtOnce(found.models));
    },
  });
  return { form, test, trial, chosen, setChosen, more, setMore, askModel, setAskModel };
}

function secretOf({ keptIn, secret }: WrittenForm): { secret?: string } {
  return keptIn === 'sealed' && secret !== '' ? { secret } : {};
}
