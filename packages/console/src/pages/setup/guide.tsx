import type { SessionView } from '@headgate/gateway/console';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { SessionProvider } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { ButtonLink, Link } from '../../ui/link.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { OperatorStep } from './operator-step.tsx';
import { type StepName, skippedSteps, skipStep, stepNames, useProgress } from './progress.ts';
import { GuideStep } from './step.tsx';
import * as texts from './texts.ts';

// Who comes by the link needs the first step alone; the others come behind it.
const ChannelStep = lazy(async () => ({ default: (await import('./channel-step.tsx')).ChannelStep }));
const KeyStep = lazy(async () => ({ default: (await import('./key-step.tsx')).KeyStep }));
const CallStep = lazy(async () => ({ default: (await import('./call-step.tsx')).CallStep }));

interface GuideProps {
  readonly session: SessionView;
  /** The token of the link; empty where there was none. */
  readonly token: string;
  readonly onSignedIn: () => Promise<void>;
}

type Progress = ReturnType<typeof useProgress>;

/** The steps of the first run on one page: one is open, those before it say what they came to. */
export function Guide({ session, token, onSignedIn }: GuideProps) {
  const t = useTexts(texts);
  const isSignedIn = session.person !== null;
  const progress = useProgress(isSignedIn);
  const { at, go, heading } = usePlace(progress, isSignedIn);
  const [models, setModels] = useState<readonly string[]>([]);
  const next = (name: StepName) => () => go(stepNames[stepNames.indexOf(name) + 1] ?? 'end');
  const skip = (name: StepName) => () => {
    skipStep(name);
    next(name)();
  };
  const contents: Readonly<Record<StepName, () => ReactNode>> = {
    operator: () => <OperatorStep token={token} onDone={onSignedIn} />,
    channel: () => (
      <ChannelStep
        hasSimulated={progress.hasSimulated}
        onDone={(served) => {
          setModels(served);
          next('channel')();
        }}
        onSkip={skip('channel')}
      />
    ),
    key: () => <KeyStep model={models[0] ?? null} onDone={next('key')} onSkip={skip('key')} />,
    call: () => <CallStep model={models[0] ?? null} />,
  };
  const steps = (
    <ol className="flex flex-col">
      {stepNames.map((name, index) => (
        <GuideStep
          key={name}
          number={index + 1}
          title={t(`step.${name}`)}
          about={t(`about.${name}`)}
          state={at === name ? 'open' : progress.done[name] ? 'done' : 'later'}
          cameTo={cameTo(name, progress, session, t)}
          onOpen={isSignedIn && name !== 'operator' ? () => go(name) : null}
          heading={at === name ? heading : null}
        >
          {at === name && (
            <Suspense fallback={<Skeleton className="h-40 w-full" />}>{contents[name]()}</Suspense>
          )}
        </GuideStep>
      ))}
    </ol>
  );
  return (
    <div className="flex flex-col gap-6">
      <p role="status" className="sr-only">
        {at !== null &&
          at !== 'end' &&
          t('announce', { number: stepNames.indexOf(at) + 1, title: t(`step.${at}`) })}
      </p>
      {progress.problem !== null && <ErrorState error={progress.problem} onRetry={progress.retry} />}
      {isSignedIn && at === null && progress.problem === null && <Skeleton className="h-40 w-full" />}
      {isSignedIn ? <SessionProvider answer={session}>{steps}</SessionProvider> : steps}
      {at === 'end' && <End />}
      {isSignedIn && at !== 'end' && (
        <p className="text-soft">
          <Link to="/">{t('leave')}</Link>
        </p>
      )}
    </div>
  );
}

/** The step that is open: the first that is not done, and then whichever somebody goes to. Its heading takes the focus. */
function usePlace(progress: Progress, isSignedIn: boolean) {
  const [chosen, go] = useState<StepName | 'end' | null>(null);
  // It is found once: what is done in a step must not close it, as its result is still to be seen.
  if (chosen === null && isSignedIn && progress.isKnown) go(firstOpen(progress));
  const at = chosen ?? (isSignedIn ? null : 'operator');
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef(at);
  useEffect(() => {
    if (before.current !== null && before.current !== at) heading.current?.focus();
    before.current = at ?? before.current;
  }, [at]);
  return { at, go, heading };
}

/** Who has made a key has settled for the channels that there are. */
function firstOpen({ done }: Progress): StepName | 'end' {
  const skipped = skippedSteps();
  const isPast = (name: StepName) =>
    done[name] ||
    skipped.includes(name) ||
    (name === 'channel' && done.key) ||
    (name !== 'call' && done.call);
  return stepNames.find((name) => !isPast(name)) ?? 'end';
}

/** A step that is done is told by its outcome, in a few words. */
function cameTo(
  name: StepName,
  { channelNames, keyNames, hasSimulated }: Progress,
  { person }: SessionView,
  t: (name: 'simulatedForNow') => string,
): string {
  switch (name) {
    case 'operator':
      return person?.name ?? '';
    case 'channel':
      return channelNames.join(', ') || (hasSimulated ? t('simulatedForNow') : '');
    case 'key':
      return keyNames.join(', ');
    case 'call':
      return '';
  }
}

/** Everything is there: where to go from here. */
function End() {
  const t = useTexts(texts);
  return (
    <section className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <h2 className="text-base">{t('endTitle')}</h2>
      <p className="text-soft">{t('endDetail')}</p>
      <p className="flex flex-wrap gap-2">
        <ButtonLink to="/" variant="primary">
          {t('toConsole')}
        </ButtonLink>
        <ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>
        <ButtonLink to="/people">{t('toPeople')}</ButtonLink>
      </p>
    </section>
  );
}
