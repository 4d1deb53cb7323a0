import type { KeyChoicesView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { CodeTabs } from '../../ui/code.tsx';
import { Combobox } from '../../ui/combobox.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, Select, TextArea } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { curlOf, scriptOf } from './code-sample.ts';
import { useHeldKey } from './held-key.ts';
import { LaneView } from './lane-view.tsx';
import { PlaygroundKey } from './playground-key.tsx';
import { PromptBox } from './prompt-box.tsx';
import { type PlayRequest, type PlayTurn, type Surface, surfaceOf, surfaces } from './surfaces.ts';
import * as texts from './texts.ts';
import { useLane } from './use-lane.ts';

/** The values of the form, as they are typed. */
interface Settings {
  readonly surface: Surface['id'];
  readonly model: string | null;
  /** A second model to compare with; null of none. */
  readonly other: string | null;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly stream: boolean;
}

const usual: Settings = {
  ...{ surface: 'chat', model: null, other: null, system: '', temperature: '', maxTokens: '', stream: true },
};

/** The last request, to be made again elsewhere. */
function AsCode({ surface, request }: { readonly surface: Surface; readonly request: PlayRequest }) {
  const t = useTexts(texts);
  const { apiOrigin } = useSession().deployment;
  const items = [
    { label: 'curl', code: curlOf(apiOrigin, surface, request) },
    { label: 'JavaScript', code: scriptOf(apiOrigin, surface, request) },
    { label: t('request'), code: JSON.stringify(surface.body(request), null, 2) },
  ];
  return (
    <Section title={t('asCode')} plain>
      <CodeTabs items={items} />
    </Section>
  );
}

/** A prompt on any surface. The page calls the API itself, with a key in this tab's memory, so it is a caller like any other. */
export function PlaygroundPage() {
  const t = useTexts(texts);
  const { apiOrigin } = useSession().deployment;
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const models = choices.data?.models ?? [];
  const { settings, surface, held, model, lanes, last, ...play } = usePlay(models[0]?.id ?? null, apiOrigin);
  const takesImages = lanes.every(({ model: asked }) =>
    models.find(({ id }) => id === asked)?.input.includes('image'),
  );
  return (
    <Page title={t('title')} description={t('description', { origin: apiOrigin })}>
      {choices.error !== null && <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />}
      <PlaygroundKey platform={surface.platform} held={held} choices={choices.data} />
      <div className="grid min-w-0 grid-cols-1 gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
        <Section>
          <PlaySettings
            settings={settings}
            model={model}
            models={models.map(({ id }) => id)}
            onChange={play.change}
          />
        </Section>
        <div className="flex min-w-0 flex-col gap-4">
          <div className="flex min-w-0 flex-col gap-4 md:flex-row">
            {lanes.map(({ lane, model: asked }, at) => (
              <LaneView key={at === 0 ? 'left' : 'right'} state={lane.state} model={asked ?? t('noModel')} />
            ))}
          </div>
          <PromptBox
            isRunning={lanes.some(({ lane }) => lane.state.isRunning)}
            mayAsk={held !== null && model !== null}
            takesImages={takesImages}
            onSend={play.send}
            onStop={play.stop}
            onClear={play.clear}
          />
          {last !== null && <AsCode surface={surface} request={last} />}
        </div>
      </div>
    </Page>
  );
}

/** The form, its lanes, and what may be done with them. */
function usePlay(usualModel: string | null, apiOrigin: string) {
  const [settings, setSettings] = useState(usual);
  const [last, setLast] = useState<PlayRequest | null>(null);
  const [left, right] = [useLane(), useLane()];
  const surface = surfaceOf(settings.surface);
  const held = useHeldKey(surface.platform);
  const model = settings.model ?? usualModel;
  const lanes = [
    { lane: left, model },
    ...(settings.other === null ? [] : [{ lane: right, model: settings.other }]),
  ];
  const clear = () => {
    for (const { lane } of lanes) lane.clear();
  };
  return {
    ...{ settings, surface, held, model, lanes, last, clear },
    stop: () => {
      for (const { lane } of lanes) lane.stop();
    },
    change: (changes: Partial<Settings>) => {
      if (changes.surface !== undefined) clear();
      setSettings((before) => ({ ...before, ...changes }));
    },
    send: (turn: PlayTurn) => {
      for (const { lane, model: asked } of lanes) {
        if (asked === null || held === null) continue;
        const request = requestOf(settings, asked);
        setLast({ ...request, turns: [turn] });
        void lane.send({ apiOrigin, secret: held.secret, surface, request, turn });
      }
    },
  };
}

function requestOf(
  { system, temperature, maxTokens, stream }: Settings,
  model: string,
): Omit<PlayRequest, 'turns'> {
  const numberIn = (text: string) => (text.trim() === '' || Number.isNaN(Number(text)) ? null : Number(text));
  return { model, system, stream, temperature: numberIn(temperature), maxTokens: numberIn(maxTokens) };
}

interface PlaySettingsProps {
  readonly settings: Settings;
  readonly model: string | null;
  readonly models: readonly string[];
  readonly onChange: (changes: Partial<Settings>) => void;
}

function PlaySettings({ settings, model, models, onChange }: PlaySettingsProps) {
  const t = useTexts(texts);
  const options = models.map((id) => ({ value: id, label: id }));
  return (
    <div className="flex flex-col gap-4">
      <Field label={t('surface')}>
        <Select
          value={settings.surface}
          onChange={(id) => onChange({ surface: surfaceOf(id).id })}
          options={surfaces.map(({ id, label }) => ({ value: id, label }))}
        />
      </Field>
      <Field label={t('modelLabel')}>
        <Combobox value={model} onChange={(id) => onChange({ model: id })} options={options} />
      </Field>
      <Field label={t('other')} hint={t('otherHint')}>
        <Combobox value={settings.other} onChange={(id) => onChange({ other: id })} options={options} />
      </Field>
      <Field label={t('system')}>
        <TextArea value={settings.system} onChange={(event) => onChange({ system: event.target.value })} />
      </Field>
      <div className="grid grid-cols-2 gap-3">
        <Field label={t('temperature')}>
          <Input
            inputMode="decimal"
            placeholder={t('usual')}
            value={settings.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
        </Field>
        <Field label={t('maxTokens')}>
          <Input
            inputMode="numeric"
            placeholder={t('usual')}
            value={settings.maxTokens}
            onChange={(event) => onChange({ maxTokens: event.target.value })}
          />
        </Field>
      </div>
      <Switch checked={settings.stream} onChange={(stream) => onChange({ stream })} label={t('stream')} />
    </div>
  );
}
