import { useTexts } from '../../app/texts.ts';
import * as texts from './reason-texts.ts';

/** Why a channel was chosen or left out, in the words of the page; those of the gateway where a newer one names more than this page knows. */
export function useReasons(kind: 'choice' | 'left'): (name: string, because: string) => string {
  const t = useTexts(texts);
  return (name, because) => {
    const key = `${kind}.${name}`;
    return key in texts.en ? t(key as Parameters<typeof t>[0]) : because;
  };
}
