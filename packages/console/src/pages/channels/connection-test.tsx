import type { TrialView } from '@headgate/gateway/console';
import { CircleCheck, CircleX } from 'lucide-react';
import { useTexts } from '../../app/texts.ts';
import { Duration } from '../../ui/figures.tsx';
import * as causeTexts from './cause-texts.ts';
import * as texts from './texts.ts';

/** The steps of a test: each says why it failed, and how to mend it. */
export function ConnectionTest({ trial }: { readonly trial: TrialView }) {
  const t = useTexts(texts);
  return (
    <div role="status" className="rounded-lg border border-line bg-surface">
      <p
        className={`border-b border-line px-4 py-2 text-sm font-medium ${trial.works ? 'text-good' : 'text-bad'}`}
      >
        {trial.works ? t('works') : t('fails')}
      </p>
      <ul>
        {trial.steps.map((step, at) => (
          // Steps have no names of their own, and are never reordered.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above.
          <Step key={at} step={step} />
        ))}
      </ul>
    </div>
  );
}

function Step({ step }: { readonly step: TrialView['steps'][number] }) {
  const t = useTexts(texts);
  const { asked, model, credential, works, cause, status, durationMs, said } = step;
  const Mark = works ? CircleCheck : CircleX;
  return (
    <li className="flex gap-3 border-line px-4 py-3 not-last:border-b">
      <Mark aria-hidden className={`mt-0.5 size-4 shrink-0 ${works ? 'text-good' : 'text-bad'}`} />
      <div className="flex min-w-0 flex-1 flex-col gap-1 text-sm">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <span className="font-medium">{t(`asked.${asked}`, { model: model ?? '' })}</span>
          {credential !== null && <bdi className="text-soft">{credential}</bdi>}
          {status !== null && <span className="text-soft tabular-nums">{status}</span>}
          {durationMs > 0 && (
            <span className="text-soft">
              <Duration ms={durationMs} />
            </span>
          )}
        </p>
        {cause !== null && <CauseText cause={cause} />}
        {said !== null && (
          <p className="text-xs text-soft">
            {t('said')}: <bdi className="font-mono break-words">{said}</bdi>
          </p>
        )}
      </div>
    </li>
  );
}

function CauseText({ cause }: { readonly cause: NonNullable<TrialView['steps'][number]['cause']> }) {
  const t = useTexts(causeTexts);
  return (
    <>
      <p className="text-bad">{t(cause)}</p>
      <p>{t(`${cause}.fix`)}</p>
    </>
  );
}
