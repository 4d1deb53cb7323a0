import { Lock } from 'lucide-react';
import { Empty } from '../ui/empty.tsx';
import { ButtonLink } from '../ui/link.tsx';
import { useTitle } from '../ui/page.tsx';
import type { Access } from './session.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

/** In the place of a page that the person may not see: why, and where to go from there. */
export function Forbidden({ access }: { readonly access: Access }) {
  const t = useTexts(texts);
  const isAnAccountEnough = access !== 'operator' && access !== 'admin';
  useTitle(t('forbiddenTitle'));
  return (
    <div className="flex min-h-[70vh] items-center justify-center">
      <Empty
        isPage
        icon={Lock}
        title={t('forbiddenTitle')}
        action={
          <ButtonLink to={isAnAccountEnough ? '/profile' : '/'}>
            {t(isAnAccountEnough ? 'nav.profile' : 'toOverview')}
          </ButtonLink>
        }
      >
        {t(isAnAccountEnough ? 'forbiddenAccount' : `forbidden.${access}`)}
      </Empty>
    </div>
  );
}
