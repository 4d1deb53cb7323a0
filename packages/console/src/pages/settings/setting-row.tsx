import type { SettingView } from '@headgate/gateway/console';
import { type Language, useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { helpZh } from './help-zh.ts';
import * as texts from './texts.ts';

/** A setting: its value, what it means, and where it is declared. */
export function SettingRow({ setting }: { readonly setting: SettingView }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { name, value, isDefault, place, flag, environment, yaml } = setting;
  const ways = [yaml, environment, flag].filter((way) => way !== null);
  return (
    <li className="grid gap-x-6 gap-y-1 py-3 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="min-w-0">
        <p className="font-mono text-sm break-words">{yaml ?? name}</p>
        <p className="text-soft">{helpOf(setting, language)}</p>
      </div>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="break-all">{value ?? t(place === null ? 'secretUnset' : 'secretSet')}</span>
          {isDefault && value !== null && <Badge tone="neutral">{t('default')}</Badge>}
        </p>
        <p className="text-xs break-all text-soft">{place ?? `${t('waysToSet')} ${ways.join(' · ')}`}</p>
      </div>
    </li>
  );
}

/** The meaning of a setting, in the language of the page. */
export function helpOf({ name, help }: SettingView, language: Language): string {
  return language === 'zh' ? (helpZh[name] ?? help) : help;
}
