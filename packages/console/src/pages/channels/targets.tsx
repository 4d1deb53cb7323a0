import type { ChannelView, LiftedView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Duration, Percent, Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { TargetStateDot } from './states.tsx';
import * as texts from './texts.ts';

type TargetRow = ChannelView['targets'][number];

/** Lifts what keeps calls from a channel. */
export function useLift(path: string) {
  const t = useTexts(texts);
  const lift = useChange<{ model?: string; credential?: string }, LiftedView>('POST', `${path}/lift`, {
    invalidates: ['/channels'],
    onDone: ({ lifted }) => toast.success(t('lifted', { count: lifted })),
  });
  return (body: { model?: string; credential?: string }) =>
    void lift.mutateAsync({ body }).catch(toast.error);
}

/** The models of a channel, each with its circuit. */
export function Targets({ channel, path }: { readonly channel: ChannelView; readonly path: string }) {
  const t = useTexts(texts);
  const lift = useLift(path);
  const isOut = channel.targets.some(({ state }) => state !== 'serving');
  const columns = useColumns();
  return (
    <Section
      title={t('targets')}
      plain
      actions={isOut && <Button onClick={() => lift({})}>{t('liftAll')}</Button>}
    >
      <Table
        label={t('targets')}
        columns={columns}
        rows={channel.targets}
        rowKey={({ model }) => model}
        empty={<Empty title={t('target.none')} />}
      />
    </Section>
  );
}

function useColumns(): readonly Column<TargetRow>[] {
  const t = useTexts(texts);
  return useMemo(
    (): readonly Column<TargetRow>[] => [
      { id: 'state', header: t('state'), width: 150, cell: ({ state }) => <TargetStateDot state={state} /> },
      {
        id: 'model',
        header: t('model'),
        width: 'grow',
        cell: ({ model }) => <bdi className="truncate">{model}</bdi>,
      },
      {
        id: 'upstream',
        header: t('upstream'),
        width: 200,
        hideBelow: 'lg',
        cell: ({ upstreamModel }) => <bdi className="truncate">{upstreamModel}</bdi>,
      },
      {
        id: 'success',
        header: t('success'),
        width: 80,
        align: 'end',
        cell: ({ success }) => <Percent value={success} />,
      },
      {
        id: 'ttft',
        header: t('ttft'),
        width: 100,
        align: 'end',
        hideBelow: 'md',
        cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
      },
      {
        id: 'cost',
        header: t('cost'),
        width: 140,
        align: 'end',
        hideBelow: 'md',
        cell: ({ cost }) => (cost === null ? t('unknown') : `$${cost.input} / $${cost.output}`),
      },
      {
        ...{ id: 'error', header: t('lastError'), width: 190, hideBelow: 'sm' },
        cell: ({ lastFailure, until }) => (
          <span className="flex min-w-0 gap-2" title={lastFailure?.words}>
            {lastFailure !== null && <Time iso={lastFailure.at} />}
            {until !== null && (
              <span className="text-soft">
                {t('until')} <Time iso={until} />
              </span>
            )}
          </span>
        ),
      },
    ],
    [t],
  );
}
