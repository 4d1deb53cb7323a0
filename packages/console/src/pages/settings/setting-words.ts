import type { SettingView } from '@headgate/gateway/console';
import type { Language } from '../../app/language.ts';
import { acceptsZh, defaultsZh, helpZh } from './help-zh.ts';

/** The file's word for a setting, or its own. */
export function nameOf({ yaml, name }: SettingView): string {
  return yaml ?? name;
}

/** The meaning of a setting, in the language of the page. */
export function helpOf({ name, help }: Pick<SettingView, 'name' | 'help'>, language: Language): string {
  return language === 'zh' ? (helpZh[name] ?? help) : help;
}

/** A default that nobody has set, which may be words. */
export function defaultOf(value: string, language: Language): string {
  const words = value.replaceAll('`', '');
  return language === 'zh' ? (defaultsZh[words] ?? words) : words;
}

/** The texts that a setting may have, in words. */
export function acceptsOf({ accepts }: Pick<SettingView, 'accepts'>, language: Language): string {
  if (language === 'en') return accepts;
  const [, what = accepts, least, most] = /^(.*?),? from (\S+) to (\S+)$/.exec(accepts) ?? [];
  const words = acceptsZh[what] ?? what;
  return least === undefined ? words : `${words}，从 ${least} 到 ${most}`;
}

/** A mistake in a value; the gateway says in English that it is not what the setting takes. */
export function mistakeOf(
  setting: Pick<SettingView, 'accepts'>,
  mistake: string | null,
  language: Language,
): string | null {
  const isOfItsForm = mistake === 'is empty' || mistake?.endsWith(setting.accepts) === true;
  return language === 'zh' && isOfItsForm ? `应为：${acceptsOf(setting, language)}` : mistake;
}
