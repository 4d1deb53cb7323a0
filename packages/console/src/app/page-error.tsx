import { CircleAlert } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

/** In the place of a page that threw. A newer gateway has other files, and then the page only has to be loaded again. */
export function PageError({ error }: { readonly error: unknown }) {
  const t = useTexts(texts);
  return (
    <Empty
      isPage
      icon={CircleAlert}
      title={t('errorTitle')}
      action={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
    >
      {t('errorDetail')}
      <code className="mt-2 block font-mono text-xs break-all">{String(error)}</code>
    </Empty>
  );
}
