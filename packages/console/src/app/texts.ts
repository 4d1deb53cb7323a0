import { useTranslation } from 'react-i18next';
import { i18n } from './language.ts';

/** A translation: each key of the English texts, and no other. */
export type Texts<English> = Readonly<Record<keyof English, string>>;

/** All that a file `texts.ts` exports, given whole: `import * as texts from './texts.ts'`. */
export interface BothLanguages<English extends Readonly<Record<string, string>>> {
  readonly en: English;
  readonly zh: Texts<English>;
}

/** Plural forms are asked for without their endings, by `count`. */
type TextName<Key> = Key extends `${infer Base}_one` | `${infer Base}_other` ? Base : Key;

/** Gives the text of a name in the language of the page, with the values put in its `{{places}}`. */
export type Translate<English> = (
  name: TextName<keyof English & string>,
  values?: Readonly<Record<string, string | number>>,
) => string;

const namespaces = new WeakMap<object, string>();
let lastNumber = 0;

/** Texts arrive with the page that has them, and are made known when it is first drawn. */
export function useTexts<English extends Readonly<Record<string, string>>>(
  texts: BothLanguages<English>,
): Translate<English> {
  const { t } = useTranslation(namespaceOf(texts));
  return t as unknown as Translate<English>;
}

function namespaceOf(texts: BothLanguages<Readonly<Record<string, string>>>): string {
  const known = namespaces.get(texts);
  if (known !== undefined) return known;
  lastNumber += 1;
  const made = `texts-${lastNumber}`;
  namespaces.set(texts, made);
  i18n.addResourceBundle('en', made, texts.en);
  i18n.addResourceBundle('zh', made, texts.zh);
  return made;
}
