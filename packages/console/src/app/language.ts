import { createInstance } from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import { recall, remember } from './tab-storage.ts';

/** The languages, each by its own name. */
export const languages = { en: 'English', zh: '简体中文' } as const;
export type Language = keyof typeof languages;

/** Their names in a person's profile. */
export const languageTags = { en: 'en', zh: 'zh-CN' } as const satisfies Record<Language, string>;

export const i18n = createInstance();

export function startLanguage(): void {
  void i18n.use(initReactI18next).init({
    lng: languageOf(recall('language')) ?? browserLanguage() ?? 'en',
    fallbackLng: 'en',
    resources: {},
    initAsync: false,
    interpolation: { escapeValue: true, escape: isolated },
    react: { useSuspense: false },
  });
  showLanguage();
}

/** A value that is written from right to left, or turns the direction, has none of the words around it follow. */
export function isolated(value: string): string {
  return /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(value)
    ? `\u2068${value}\u2069`
    : value;
}

export function chooseLanguage(chosen: Language): void {
  remember('language', chosen);
  void i18n.changeLanguage(chosen).then(showLanguage);
}

/** The choice of the person's profile holds where this tab has made none; the deployment's where their browser names none of ours either. */
export function adoptLanguage(ofPerson: string | null | undefined, ofDeployment: string): void {
  const found = languageOf(ofPerson) ?? browserLanguage() ?? languageOf(ofDeployment);
  if (found !== null && found !== i18n.language && languageOf(recall('language')) === null)
    void i18n.changeLanguage(found).then(showLanguage);
}

export function useLanguage(): Language {
  return languageOf(useTranslation().i18n.language) ?? 'en';
}

function languageOf(text: string | null | undefined): Language | null {
  const primary = text?.split('-')[0];
  return primary === 'en' || primary === 'zh' ? primary : null;
}

function browserLanguage(): Language | null {
  return navigator.languages.map(languageOf).find((found) => found !== null) ?? null;
}

function showLanguage(): void {
  document.documentElement.lang = i18n.language === 'zh' ? 'zh-Hans' : 'en';
}
