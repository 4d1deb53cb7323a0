import { useTexts } from '../../app/texts.ts';
import * as texts from './texts.ts';

/** The word for something that the gateway names; the name itself where a newer gateway names more than this page knows. */
export function useWords(kind: 'part' | 'result' | 'lane'): (name: string) => string {
  const t = useTexts(texts);
  return (name) => {
    const key = `${kind}.${name}`;
    return key in texts.en ? t(key as Parameters<typeof t>[0]) : name;
  };
}
