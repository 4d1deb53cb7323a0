import type { KeyView } from '@headgate/gateway/console';
import { lazy, Suspense } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './texts.ts';

const RateBars = lazy(async () => ({ default: (await import('./rate-bars.tsx')).RateBars }));

interface RateLimitsProps {
  /** The path of the owner in the API, such as `/keys/ci`. */
  readonly of: string;
  readonly limits: KeyView['limits'];
}

/** The rate limits of a key, an account or a group, with what is taken of each now; nothing where it has none. */
export function RateLimits({ of, limits }: RateLimitsProps) {
  const t = useTexts(texts);
  if (limits === null) return null;
  const { models = {}, ...own } = limits;
  const names = Object.entries({ '': own, ...models }).flatMap(([model, rates]) =>
    Object.keys(rates).map((rate) => `${rate} ${model}`),
  );
  const waiting = (
    <ul className="grid grid-cols-1 gap-x-8 gap-y-3 sm:grid-cols-2">
      {names.map((name) => (
        <li key={name}>
          <Skeleton className="h-7.5 w-full" />
        </li>
      ))}
    </ul>
  );
  return (
    <Section title={t('limits')} description={t('limitsNow')}>
      <Suspense fallback={waiting}>
        <RateBars of={of} waiting={waiting} />
      </Suspense>
    </Section>
  );
}
