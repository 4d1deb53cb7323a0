import type { AuditPage } from '@headgate/gateway/console';
import type { LinkOptions } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './texts.ts';

/** Any list, as far as it has something in it. */
type SomeList = Pick<AuditPage, 'next'> & { readonly items: readonly object[] };

/** The way from a new gateway to its first call: each step is done once its thing is there, whoever made it. */
export function WelcomePage() {
  const t = useTexts(texts);
  const [channels, keys, calls] = [useSome('/channels'), useSome('/keys'), useSome('/calls')];
  const steps = [
    { name: 'channel', isDone: channels, to: { to: '/channels/new' } },
    { name: 'key', isDone: keys, to: { to: '/keys' } },
    { name: 'call', isDone: calls, to: { to: '/playground' } },
  ] as const satisfies readonly {
    readonly name: string;
    readonly isDone: boolean | null;
    readonly to: LinkOptions;
  }[];
  const next = steps.find(({ isDone }) => isDone === false)?.name;
  return (
    <Page title={t('welcomeTitle')} description={t('welcomeDetail')}>
      <Section>
        <ol className="flex flex-col gap-5">
          {steps.map(({ name, isDone, to }) => (
            <li key={name} className="flex flex-wrap items-start gap-x-3 gap-y-2">
              {isDone === true ? (
                <CircleCheck
                  size={18}
                  className="mt-0.5 shrink-0 text-good"
                  role="img"
                  aria-label={t('done')}
                />
              ) : (
                <CircleDashed
                  size={18}
                  className="mt-0.5 shrink-0 text-faint"
                  role="img"
                  aria-label={t('open')}
                />
              )}
              <div className="min-w-0 flex-1 basis-60">
                <h2 className="text-base">{t(`step.${name}`)}</h2>
                <p className="text-soft">{t(`about.${name}`)}</p>
              </div>
              {isDone === null ? (
                <Skeleton className="h-8 w-28" />
              ) : (
                <ButtonLink {...to} variant={name === next ? 'primary' : 'secondary'}>
                  {t(`go.${name}`)}
                </ButtonLink>
              )}
            </li>
          ))}
        </ol>
      </Section>
    </Page>
  );
}

/** True where a list has anything in it; null until that is known. */
function useSome(path: string): boolean | null {
  const list = useGet<SomeList>(path, { limit: 1 });
  return list.data === undefined ? null : list.data.items.length > 0;
}
