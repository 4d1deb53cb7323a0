import type { PastRouteView } from '@headgate/gateway/console';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { useForm } from '../../ui/form.ts';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './texts.ts';

const PastRoute = lazy(async () => ({ default: (await import('./past-route.tsx')).PastRoute }));
const FailedCalls = lazy(async () => ({ default: (await import('./failed-calls.tsx')).FailedCalls }));

/** A call that was made, as it was routed: by its trace id, or one of those that went wrong lately. */
export function Replay() {
  const t = useTexts(texts);
  const [given, keep] = useFilters(['trace']);
  const [past, setPast] = useState<PastRouteView | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const form = useForm({
    initial: { trace: given['trace'] ?? '' },
    submit: async ({ trace }) => {
      keep({ trace: trace.trim() || undefined });
      setPast(await api.get<PastRouteView>(`/calls/${encodeURIComponent(trace.trim() || '-')}/route`));
    },
  });
  const asked = useRef('');
  const trace = given['trace'] ?? '';
  // An address that names a call shows it, as does a choice below.
  useEffect(() => {
    if (trace === '' || trace !== form.values.trace || trace === asked.current) return;
    asked.current = trace;
    void form.submit();
  });
  const choose = (traceId: string) => {
    form.set('trace', traceId);
    setChoosing(false);
    keep({ trace: traceId });
  };
  return (
    <Section title={t('past')}>
      <div className="flex flex-col gap-5">
        <form
          aria-label={t('past')}
          onSubmit={(event) => {
            asked.current = form.values.trace.trim();
            void form.submit(event);
          }}
          className="flex flex-wrap items-start gap-3"
        >
          <Field
            label={t('trace')}
            hint={t('trace.hint')}
            className="w-full sm:w-96"
            {...form.about('trace')}
          >
            <Input {...form.text('trace')} className="font-mono" spellCheck={false} />
          </Field>
          <Button type="submit" busy={form.isBusy} className="sm:mt-6">
            {t('replay')}
          </Button>
          <Button
            variant="ghost"
            aria-expanded={isChoosing}
            className="sm:mt-6"
            onClick={() => setChoosing(!isChoosing)}
          >
            {t('wrong')}
          </Button>
        </form>
        <Suspense fallback={<Skeleton className="h-24 w-full" />}>
          {isChoosing && <FailedCalls onChoose={choose} />}
          {form.problem !== null && <ErrorState error={form.problem} />}
          {past !== null && <PastRoute past={past} />}
        </Suspense>
      </div>
    </Section>
  );
}
