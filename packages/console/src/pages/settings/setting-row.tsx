import type { SettingView } from '@headgate/gateway/console';
import { Lock, Pencil } from 'lucide-react';
import { type Language, useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Marked } from '../../ui/marked.tsx';
import { defaultOf, helpOf, nameOf } from './setting-words.ts';
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
  const { name, isDefault, pending, layer } = setting;
  const value = (given: GivenValue) => shownValue(setting, given, language, t);
  const place = placeText(setting, t);
  return (
    <li className="grid gap-x-6 gap-y-1 py-3 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
      <div className="min-w-0">
        <p className="font-mono text-sm break-words">{nameOf(setting)}</p>
        <p className="text-soft">
          <Marked text={helpOf(setting, language)} />
        </p>
      </div>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{value(setting)}</span>
          {isDefault && setting.value !== null && <Badge tone="neutral">{t('default')}</Badge>}
          {layer === 'console' && <Badge tone="accent">{t('layer.console')}</Badge>}
        </p>
        {pending !== null && (
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone="warn">{t('pending')}</Badge>
            <span className="min-w-0 break-words">{value(pending)}</span>
          </p>
        )}
        {place !== null && <p className="text-xs break-words text-soft">{place}</p>}
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

/** True where the console is the layer that says it, or nobody does. */
function isChangedHere({ changes, layer }: SettingView): boolean {
  return changes !== 'never' && (layer === null || layer === 'console');
}

type GivenValue = Pick<SettingView, 'value' | 'layer'>;

/** The value of now, or the one that waits for a restart; a default in words is said in the language of the page. */
function shownValue(
  { name }: SettingView,
  { value, layer }: GivenValue,
  language: Language,
  t: SettingTexts,
): string {
  if (value === null) return t(layer === null ? 'secretUnset' : 'secretSet');
  const siblings = name === 'siblings' ? siblingsOf(value) : [];
  if (siblings.length > 0) return siblings.map((sibling) => sibling.name).join(', ');
  return layer === null ? defaultOf(value, language) : value;
}

/** The place that it is declared in, or why the console does not change it; null where it is changed here. */
function placeText(setting: SettingView, t: SettingTexts): string | null {
  const { place, layer, fixedBecause, flag, environment, yaml } = setting;
  const ways = [yaml, environment, flag].filter((way) => way !== null).join(' · ');
  if (layer !== null && layer !== 'console') return t('declaredAt', { place: place ?? '' });
  if (fixedBecause !== null) return `${t(`fixed.${fixedBecause}`)} ${t('waysToSet', { ways })}`;
  return null;
}
