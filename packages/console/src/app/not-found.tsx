import { Compass } from 'lucide-react';
import { Empty } from '../ui/empty.tsx';
import { ButtonLink } from '../ui/link.tsx';
import { useTitle } from '../ui/page.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

/** For addresses that lead nowhere. */
export function NotFound() {
  const t = useTexts(texts);
  useTitle(t('missingTitle'));
  return (
    <main className="flex min-h-[70vh] items-center justify-center">
      <Empty
        isPage
        icon={Compass}
        title={t('missingTitle')}
        action={<ButtonLink to="/">{t('toOverview')}</ButtonLink>}
      >
        {t('missingDetail')}
      </Empty>
    </main>
  );
}
