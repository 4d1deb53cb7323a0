import type { SettingView } from '@headgate/gateway/console';
import { Lock, Pencil } from 'lucide-react';
import { type Language, useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { helpZh } from './help-zh.ts';
import { siblingsOf } from './sibling-list.tsx';
import * as texts from './texts.ts';

interface SettingRowProps {
  readonly setting: SettingView;
  readonly onEdit: (name: string) => void;
}

/** A setting: its value, what it means, where it is made, and a way to make it here. */
export function SettingRow({ setting, onEdit }: SettingRowProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { name, isDefault, pending, value, layer } = setting;
  return (
    <li className="grid gap-x-6 gap-y-1 py-3 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
      <div className="min-w-0">
        <p className="font-mono text-sm break-words">{nameOf(setting)}</p>
        <p className="text-soft">{helpOf(setting, language)}</p>
      </div>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{shownValue(setting, value, t)}</span>
          {isDefault && value !== null && <Badge tone="neutral">{t('default')}</Badge>}
          {layer === 'console' && <Badge tone="accent">{t('layer.console')}</Badge>}
        </p>
        {pending !== null && (
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone="warn">{t('pending')}</Badge>
            <span className="min-w-0 break-words">{shownValue(setting, pending.value, t)}</span>
          </p>
        )}
        <p className="text-xs break-words text-soft">{placeText(setting, t)}</p>
      </div>
      <div className="self-start md:w-24 md:text-right">
        {isChangedHere(setting) ? (
          <Button
            size="sm"
            icon={Pencil}
            aria-label={t('changeOf', { name: nameOf(setting) })}
            onClick={() => onEdit(name)}
          >
            {t('change')}
          </Button>
        ) : (
          <span className="inline-flex items-center gap-1 text-xs text-soft">
            <Lock aria-hidden className="size-3.5" />
            {t('readOnly')}
          </span>
        )}
      </div>
    </li>
  );
}

type SettingTexts = ReturnType<typeof useTexts<typeof texts.en>>;

/** The file's word for a setting, or its own. */
export function nameOf({ yaml, name }: SettingView): string {
  return yaml ?? name;
}

/** True where the console is the layer that says it, or nobody does. */
function isChangedHere({ changes, layer }: SettingView): boolean {
  return changes !== 'never' && (layer === null || layer === 'console');
}

function shownValue(setting: SettingView, value: string | null, t: SettingTexts): string {
  if (value === null) return t(setting.isDefault ? 'secretUnset' : 'secretSet');
  if (setting.name !== 'siblings') return value;
  const names = siblingsOf(value).map(({ name }) => name);
  return names.length === 0 ? value : names.join(', ');
}

/** The place that it is made in, and why it is read-only here where it is. */
function placeText(setting: SettingView, t: SettingTexts): string {
  const { place, layer, fixedBecause, flag, environment, yaml } = setting;
  const ways = [yaml, environment, flag].filter((way) => way !== null).join(' · ');
  if (layer !== null && layer !== 'console') return t('declaredAt', { place: place ?? '' });
  if (fixedBecause !== null) return `${t(`fixed.${fixedBecause}`)} ${t('waysToSet', { ways })}`;
  return t(setting.changes === 'now' ? 'atOnce' : 'withRestart');
}

/** The meaning of a setting, in the language of the page. */
export function helpOf({ name, help }: SettingView, language: Language): string {
  return language === 'zh' ? (helpZh[name] ?? help) : help;
}
