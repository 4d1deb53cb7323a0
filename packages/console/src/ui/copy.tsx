import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTexts } from '../app/texts.ts';
import { IconButton } from './button.tsx';
import * as texts from './texts.ts';

/** Copies a text, and says so for a moment. */
export function Copy({ text, label }: { readonly text: string; readonly label?: string }) {
  const t = useTexts(texts);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <>
      <IconButton
        icon={isCopied ? Check : CopyIcon}
        label={isCopied ? t('copied') : (label ?? t('copy'))}
        onClick={() => void copyText(text).then(setCopied)}
      />
      <span role="status" className="sr-only">
        {isCopied ? t('copied') : ''}
      </span>
    </>
  );
}

/** Returns false where it could not be copied. Pages that came without TLS have no clipboard and select the text instead. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const area = document.createElement('textarea');
  area.value = text;
  // Inside of an open dialog, as the focus may not leave it.
  const place = document.activeElement?.closest('[role="dialog"]') ?? document.body;
  place.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
