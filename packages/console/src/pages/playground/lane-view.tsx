import { useTexts } from '../../app/texts.ts';
import { Code } from '../../ui/code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Count, Duration, Money } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { helpFor, indented, readRefusal } from './refusal.ts';
import * as texts from './texts.ts';
import type { LaneState } from './use-lane.ts';

/** A conversation with one model. All of it is text: nothing that a model says is rendered or run. */
export function LaneView({ state, model }: { readonly state: LaneState; readonly model: string }) {
  const t = useTexts(texts);
  const { turns, text, thinking, isRunning, end, broken } = state;
  return (
    <section
      aria-label={t('answerOf', { model })}
      className="flex min-w-0 flex-1 flex-col gap-3 rounded-lg border border-line bg-surface p-4"
    >
      <h2 className="truncate font-mono text-xs text-soft">{model}</h2>
      {turns.length === 0 && <p className="text-faint">{t('nothingYet')}</p>}
      <ol className="flex flex-col gap-3">
        {turns.map(({ role, text: said, images = [] }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: Turns are only ever added behind the last one.
          <li key={at} className={role === 'user' ? 'rounded-md bg-sunken px-3 py-2' : 'px-3'}>
            <p className="mb-0.5 text-xs text-faint">{t(role === 'user' ? 'you' : 'model')}</p>
            <p className="break-words whitespace-pre-wrap">{said}</p>
            {images.length > 0 && (
              <p className="text-xs text-soft">{t('withImages', { count: images.length })}</p>
            )}
          </li>
        ))}
      </ol>
      {(isRunning || text !== '' || thinking !== '') && (
        <div aria-live="polite" aria-busy={isRunning} className="flex flex-col gap-2 px-3">
          <p className="text-xs text-faint">{t('model')}</p>
          {thinking !== '' && (
            <details className="text-soft">
              <summary className="cursor-pointer text-xs">{t('thought')}</summary>
              <p className="break-words whitespace-pre-wrap">{thinking}</p>
            </details>
          )}
          <p className="min-h-5 break-words whitespace-pre-wrap" data-answer>
            {text}
            {isRunning && (
              <span className="ml-0.5 inline-block h-4 w-1.5 animate-pulse bg-accent align-text-bottom" />
            )}
          </p>
        </div>
      )}
      {broken !== null && <Refused title={t('brokenOff')} status={null} text={broken} />}
      {end?.problem != null && (
        <Refused
          title={end.status === null ? t('unreachable') : t('refused', { status: end.status })}
          status={end.status}
          text={end.problem}
        />
      )}
      {end?.wasStopped === true && <p className="px-3 text-soft">{t('stopped')}</p>}
      {end !== null && <LaneFigures state={state} />}
    </section>
  );
}

interface RefusedProps {
  readonly title: string;
  /** Null where there was no answer, or it had begun already. */
  readonly status: number | null;
  /** All that was said, as it came. */
  readonly text: string;
}

/** A refusal in the API's own words, with what can be done about it from here. */
function Refused({ title, status, text }: RefusedProps) {
  const t = useTexts(texts);
  const refusal = readRefusal(text);
  const help = refusal === null && status === null ? null : helpFor(status);
  return (
    <Notice tone="bad" title={title}>
      <p>{refusal?.message ?? text}</p>
      {help !== null && <p className="mt-1 text-soft">{t(help)}</p>}
      {refusal !== null && (
        <details className="mt-1">
          <summary className="cursor-pointer text-xs text-soft">{refusal.code ?? t('inFull')}</summary>
          <Code>{indented(text)}</Code>
        </details>
      )}
    </Notice>
  );
}

function LaneFigures({ state: { end, input, output, charge, reason } }: { readonly state: LaneState }) {
  const t = useTexts(texts);
  const figures = [
    [t('firstToken'), <Duration key="first" ms={end?.firstMs} />],
    [t('total'), <Duration key="total" ms={end?.totalMs} />],
    [
      t('tokens'),
      input === null && output === null ? '–' : <Tokens key="tokens" input={input} output={output} />,
    ],
    [
      t('charge'),
      charge === undefined ? '…' : charge === null ? '–' : <Money key="charge" usd={charge.charge} />,
    ],
    ...(reason === null ? [] : [[t('reason'), reason] as const]),
  ] as const;
  return (
    <dl className="mt-auto flex flex-wrap gap-x-5 gap-y-1 border-t border-line pt-2 text-xs">
      {figures.map(([label, value]) => (
        <div key={label} className="flex gap-1.5">
          <dt className="text-soft">{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {end?.traceId != null && (
        <div className="flex min-w-0 items-center gap-1.5">
          <dt className="text-soft">{t('trace')}</dt>
          <dd className="flex min-w-0 items-center gap-1">
            <Link to="/calls/$id" params={{ id: end.traceId }} className="truncate font-mono" data-trace>
              {end.traceId}
            </Link>
            <Copy text={end.traceId} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Tokens({ input, output }: { readonly input: number | null; readonly output: number | null }) {
  return (
    <>
      <Count value={input} /> → <Count value={output} />
    </>
  );
}
