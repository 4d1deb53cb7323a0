import type { CallAttemptView, CallView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/class.ts';
import { Money, MoneyIn } from '../../ui/figures.tsx';
import { durationText } from '../../ui/numbers.ts';
import * as texts from './texts.ts';
import { useWords } from './words.ts';

/** The attempts of a call one beneath the other, each from when it was sent to when it was over. */
export function Timeline({ call }: { readonly call: CallView }) {
  const t = useTexts(texts);
  const endMs = Math.max(call.durationMs ?? 0, call.overheadMs, ...call.tries.map((each) => each.endMs), 1);
  if (call.tries.length === 0) return <p className="text-soft">{t('noAttempts')}</p>;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-xs text-soft">{t('timelineHint')}</p>
      <ol className="flex flex-col gap-3">
        <li className="grid grid-cols-1 gap-1 sm:grid-cols-[11rem_minmax(0,1fr)] sm:items-center sm:gap-4">
          <span className="text-soft">{t('gateway')}</span>
          <Track
            endMs={endMs}
            phases={[{ fromMs: 0, toMs: call.overheadMs, look: 'bg-strong' }]}
            label={durationText(call.overheadMs)}
          />
        </li>
        {call.tries.map((each) => (
          <Try key={each.n} attempt={each} endMs={endMs} />
        ))}
      </ol>
    </div>
  );
}

function Try({ attempt, endMs }: { readonly attempt: CallAttemptView; readonly endMs: number }) {
  const t = useTexts(texts);
  const word = useWords('result');
  const { startMs, firstContentMs, n, result } = attempt;
  const isGood = result === 'answered';
  const contentMs = firstContentMs ?? attempt.endMs;
  const took = durationText(attempt.endMs - startMs);
  return (
    <li className="grid grid-cols-1 gap-1 sm:grid-cols-[11rem_minmax(0,1fr)] sm:gap-4">
      <div className="flex min-w-0 flex-col items-start gap-0.5">
        <span className="max-w-full truncate font-medium" title={attempt.channelId}>
          {attempt.channelId ?? t('attempt', { n })}
        </span>
        <Badge tone={isGood ? 'good' : 'bad'}>
          {word(result)}
          {attempt.httpStatus === null ? '' : ` · ${attempt.httpStatus}`}
        </Badge>
      </div>
      <div className="flex min-w-0 flex-col gap-1">
        <Track
          endMs={endMs}
          phases={[
            {
              fromMs: startMs,
              toMs: contentMs,
              look: classes('hatched', isGood ? 'text-accent' : 'text-bad'),
            },
            { fromMs: contentMs, toMs: attempt.endMs, look: isGood ? 'bg-accent' : 'bg-bad' },
          ]}
          label={`${attempt.isStartKnown ? '' : `${t('about')} `}${durationText(startMs)} + ${took}`}
        />
        <TryDetail attempt={attempt} />
      </div>
    </li>
  );
}

/** The rest of an attempt is for operators. */
function TryDetail({ attempt }: { readonly attempt: CallAttemptView }) {
  const t = useTexts(texts);
  const lane = useWords('lane');
  if (attempt.channelId === undefined) return null;
  const { upstreamModel, upstreamRequestId, edits = [], detail, cost, statedCost } = attempt;
  const words = [
    upstreamModel,
    attempt.lane === undefined ? null : lane(attempt.lane),
    edits.length === 0 ? null : t('edits', { edits: edits.join(', ') }),
    upstreamRequestId,
  ].filter((word) => word !== null && word !== undefined);
  return (
    <div className="text-xs break-words text-soft">
      {words.join(' · ')} · <Money usd={cost} />
      {detail !== null && detail !== undefined && <p className="text-bad">{detail}</p>}
      {statedCost !== null && statedCost !== undefined && (
        <p>
          <MoneyIn usd={statedCost} precision="full" say={(cost) => t('stated', { cost })} />
        </p>
      )}
    </div>
  );
}

interface Phase {
  readonly fromMs: number;
  readonly toMs: number;
  readonly look: string;
}

function Track({
  phases,
  endMs,
  label,
}: {
  readonly phases: readonly Phase[];
  readonly endMs: number;
  readonly label: string;
}) {
  return (
    <div className="flex items-center gap-3">
      <div className="relative h-4 min-w-0 flex-1 overflow-hidden rounded-sm bg-sunken" aria-hidden>
        {phases.map(({ fromMs, toMs, look }) => (
          <span
            key={look}
            className={classes('absolute inset-y-0', look)}
            style={{
              left: `${(fromMs / endMs) * 100}%`,
              width: `max(2px, ${((toMs - fromMs) / endMs) * 100}%)`,
            }}
          />
        ))}
      </div>
      <span className="w-24 shrink-0 text-right text-xs text-soft sm:w-36">{label}</span>
    </div>
  );
}
