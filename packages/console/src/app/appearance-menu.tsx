import { SunMoon } from 'lucide-react';
import { IconButton } from '../ui/button.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { useChoice } from './choice.ts';
import { chooseLanguage, type Language, languages, languageTags, useLanguage } from './language.ts';
import * as texts from './shell-texts.ts';
import { type Translate, useTexts } from './texts.ts';
import { chooseTheme, theme, themes } from './theme.ts';

/** Theme and language, for pages without the person's menu. */
export function AppearanceMenu() {
  const t = useTexts(texts);
  const groups = useAppearance(t);
  return <Menu groups={groups} trigger={<IconButton icon={SunMoon} label={t('theme')} />} />;
}

/** The entries of a menu that choose theme and language; `onChoice` hears of it, to keep it in the profile. */
export function useAppearance(
  t: Translate<typeof texts.en>,
  onChoice: (
    choice: { readonly theme: 'light' | 'dark' | null } | { readonly language: string },
  ) => void = () => undefined,
): { readonly label: string; readonly items: readonly MenuItem[] }[] {
  const chosenTheme = useChoice(theme);
  const language = useLanguage();
  return [
    {
      label: t('theme'),
      items: themes.map((name) => ({
        label: t(`theme.${name}`),
        checked: name === chosenTheme,
        onSelect: () => {
          chooseTheme(name);
          onChoice({ theme: name === 'system' ? null : name });
        },
      })),
    },
    {
      label: t('language'),
      items: (Object.keys(languages) as Language[]).map((name) => ({
        label: languages[name],
        checked: name === language,
        onSelect: () => {
          chooseLanguage(name);
          onChoice({ language: languageTags[name] });
        },
      })),
    },
  ];
}
