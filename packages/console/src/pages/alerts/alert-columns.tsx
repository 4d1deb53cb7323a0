import type { EventView } from '@headgate/gateway/console';
import { Check } from 'lucide-react';
import { useMemo } from 'react';
import { isolated } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge, StateDot, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Count, Time } from '../../ui/figures.tsx';
import type { Column } from '../../ui/table.tsx';
import * as texts from './texts.ts';

const tones: Readonly<Record<EventView['severity'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  info: 'neutral',
};

/** The columns of the list of events; the last one is who has seen it, or the button for it. */
export function useAlertColumns(onAcknowledge: (id: string) => void): readonly Column<EventView>[] {
  const t = useTexts(texts);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The function does the same in every draw.
  return useMemo(
    () => [
      {
        ...{ id: 'severity', header: t('severity'), width: 90 },
        cell: ({ severity }) => <Badge tone={tones[severity]}>{t(`severity.${severity}`)}</Badge>,
      },
      { id: 'what', header: t('what'), cell: (event) => <What event={event} /> },
      {
        ...{ id: 'about', header: t('about'), hideBelow: 'md' },
        cell: ({ subject }) => <bdi title={subject}>{subject || '–'}</bdi>,
      },
      {
        ...{ id: 'detail', header: t('detail'), hideBelow: 'lg' },
        cell: ({ detail }) => {
          const words = Object.entries(detail).map(([name, value]) => `${name}: ${isolated(String(value))}`);
          return (
            <span className="text-soft" title={words.join('\n')}>
              {words.join(' · ')}
            </span>
          );
        },
      },
      {
        ...{ id: 'state', header: t('state'), hideBelow: 'lg', width: 110 },
        cell: ({ endedAt }) => <StandingState endedAt={endedAt} />,
      },
      {
        ...{ id: 'times', header: t('times'), hideBelow: 'md', align: 'end', width: 72 },
        cell: ({ count }) => <Count value={count} />,
      },
      {
        ...{ id: 'last', header: t('last'), hideBelow: 'sm', align: 'end', width: 112 },
        cell: ({ lastAt }) => <Time iso={lastAt} />,
      },
      {
        ...{ id: 'seen', header: t('seen'), align: 'end', width: 132 },
        cell: (event) => <Seen event={event} onAcknowledge={onAcknowledge} />,
      },
    ],
    [t],
  );
}

function What({ event: { kind } }: { readonly event: EventView }) {
  const t = useTexts(texts);
  return <span title={kind}>{t(`kind.${kind}`)}</span>;
}

/** An end may be ahead: that of a budget's window. */
function StandingState({ endedAt }: Pick<EventView, 'endedAt'>) {
  const t = useTexts(texts);
  const isOver = endedAt !== null && Date.parse(endedAt) <= Date.now();
  return <StateDot state={isOver ? 'neutral' : 'warn'} label={isOver ? t('ended') : t('lasts')} />;
}

interface SeenProps {
  readonly event: EventView;
  readonly onAcknowledge: (id: string) => void;
}

function Seen({ event: { id, kind, acknowledgedAt, acknowledgedBy }, onAcknowledge }: SeenProps) {
  const t = useTexts(texts);
  if (acknowledgedAt === null)
    return (
      <Button
        size="sm"
        variant="ghost"
        icon={Check}
        aria-label={t('acknowledgeThis', { what: t(`kind.${kind}`) })}
        onClick={() => onAcknowledge(id)}
      >
        {t('acknowledge')}
      </Button>
    );
  return (
    <span className="text-xs text-soft">
      <bdi>{acknowledgedBy}</bdi> · <Time iso={acknowledgedAt} />
    </span>
  );
}
