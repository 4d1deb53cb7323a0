import { useTexts } from '../../app/texts.ts';
import { Combobox } from '../../ui/combobox.tsx';
import { Field, Input, Select, TextArea } from '../../ui/field.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { type Json, type PlayRequest, type Surface, surfaceOf, surfaces } from './surfaces.ts';
import * as texts from './texts.ts';

/** The values of the form, as they are typed. */
export interface Settings {
  readonly surface: Surface['id'];
  readonly model: string | null;
  /** A second model to compare with; null of none. */
  readonly other: string | null;
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
  readonly stop: string;
  readonly more: string;
  readonly stream: boolean;
}

export const usualSettings: Settings = {
  ...{ surface: 'chat', model: null, other: null, system: '', temperature: '', topP: '', maxTokens: '' },
  ...{ stop: '', more: '', stream: true },
};

const numeric = ['temperature', 'topP', 'maxTokens'] as const;

/** The fields that have something in them that cannot be sent. */
export function mistakesIn(settings: Settings): readonly (keyof Settings)[] {
  const numbers = numeric.filter((name) => settings[name].trim() !== '' && numberIn(settings[name]) === null);
  return jsonIn(settings.more) === null ? [...numbers, 'more'] : numbers;
}

export function requestOf(settings: Settings, model: string): Omit<PlayRequest, 'turns'> {
  const { system, stream, temperature, topP, maxTokens, stop, more } = settings;
  return {
    ...{ model, system, stream, temperature: numberIn(temperature), topP: numberIn(topP) },
    maxTokens: numberIn(maxTokens),
    stop: stop.split('\n').filter((line) => line !== ''),
    more: jsonIn(more) ?? {},
  };
}

/** Some write decimals with a comma. */
function numberIn(text: string): number | null {
  const number = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || !Number.isFinite(number) ? null : number;
}

/** An object, nothing for no text; null of what is no object. */
function jsonIn(text: string): Json | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

interface PlaySettingsProps {
  readonly settings: Settings;
  readonly model: string | null;
  readonly models: readonly string[];
  readonly onChange: (changes: Partial<Settings>) => void;
}

/** The surface, the models, and what they are asked to do. */
export function PlaySettings({ settings, model, models, onChange }: PlaySettingsProps) {
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
      <Parameters settings={settings} onChange={onChange} />
      <Switch checked={settings.stream} onChange={(stream) => onChange({ stream })} label={t('stream')} />
    </div>
  );
}

/** Numbers that most leave alone, and below them whatever else a surface takes. */
function Parameters({ settings, onChange }: Pick<PlaySettingsProps, 'settings' | 'onChange'>) {
  const t = useTexts(texts);
  const wrong = mistakesIn(settings);
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3">
        {numeric.map((name) => (
          <Field key={name} label={t(name)} error={wrong.includes(name) ? t('noNumber') : null}>
            <Input
              inputMode="decimal"
              placeholder={t('usual')}
              value={settings[name]}
              onChange={(event) => onChange({ [name]: event.target.value })}
            />
          </Field>
        ))}
      </div>
      <details open={wrong.includes('more') || undefined}>
        <summary className="cursor-pointer text-sm text-soft">{t('moreParameters')}</summary>
        <div className="flex flex-col gap-4 pt-3">
          {surfaceOf(settings.surface).takesStops && (
            <Field label={t('stopAt')} hint={t('stopAtHint')}>
              <TextArea
                rows={2}
                value={settings.stop}
                onChange={(event) => onChange({ stop: event.target.value })}
                className="font-mono"
              />
            </Field>
          )}
          <Field label={t('more')} hint={t('moreHint')} error={wrong.includes('more') ? t('noObject') : null}>
            <TextArea
              rows={3}
              value={settings.more}
              onChange={(event) => onChange({ more: event.target.value })}
              placeholder='{ "seed": 7 }'
              spellCheck={false}
              className="font-mono"
            />
          </Field>
        </div>
      </details>
    </>
  );
}
