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
import { type PlayRequest, type PlayTurn, type Surface, surfaces } from './surfaces.ts';
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

/** A prompt on any surface. The page calls the API itself, with a key in this tab's memory, so it is a caller like any other. */
export function PlaygroundPage() {
  const t = useTexts(texts);
  const { deployment } = useSession();
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const [settings, setSettings] = useState(usual);
  const [last, setLast] = useState<PlayRequest | null>(null);
  const [left, right] = [useLane(), useLane()];
  const surface = surfaces.find(({ id }) => id === settings.surface) ?? surfaces[0];
  const held = useHeldKey(surface?.platform ?? 'completions');
  if (surface === undefined) return null;
  const models = choices.data?.models ?? [];
  const model = settings.model ?? models[0]?.id ?? null;
  const lanes = [
    { lane: left, model },
    ...(settings.other === null ? [] : [{ lane: right, model: settings.other }]),
  ];
  const clear = () => {
    for (const { lane } of lanes) lane.clear();
  };
  const send = (turn: PlayTurn) => {
    if (held === null) return;
    for (const { lane, model: asked } of lanes) {
      if (asked === null) continue;
      const request = requestOf(settings, asked);
      setLast({ ...request, turns: [turn] });
      const { apiOrigin } = deployment;
      void lane.send({ apiOrigin, secret: held.secret, surface, request, turn });
    }
  };
  const takesImages = lanes.every(({ model: asked }) =>
    models.find(({ id }) => id === asked)?.input.includes('image'),
  );
  return (
    <Page title={t('title')} description={t('description', { origin: deployment.apiOrigin })}>
      {choices.error !== null && <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />}
      <PlaygroundKey platform={surface.platform} held={held} choices={choices.data} />
      <div className="grid min-w-0 grid-cols-1 gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
        <Section>
          <PlaySettings
            settings={settings}
            model={model}
            models={models.map(({ id }) => id)}
            onChange={(changes) => {
              if (changes.surface !== undefined) clear();
              setSettings((before) => ({ ...before, ...changes }));
            }}
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
            onSend={send}
            onStop={() => {
              for (const { lane } of lanes) lane.stop();
            }}
            onClear={clear}
          />
          {last !== null && (
            <Section title={t('asCode')} plain>
              <CodeTabs
                items={[
                  { label: 'curl', code: curlOf(deployment.apiOrigin, surface, last) },
                  { label: 'JavaScript', code: scriptOf(deployment.apiOrigin, surface, last) },
                  { label: t('request'), code: JSON.stringify(surface.body(last), null, 2) },
                ]}
              />
            </Section>
          )}
        </div>
      </div>
    </Page>
  );
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
          onChange={(id) => onChange({ surface: surfaces.find((each) => each.id === id)?.id ?? 'chat' })}
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
