import type { ChannelFailurePage, ChannelFailureView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './history-texts.ts';

const refetchMs = 30_000;

/** The last errors of a channel, each with the call that it belongs to. */
export function Failures({ path }: { readonly path: string }) {
  const t = useTexts(texts);
  const failures = useGet<ChannelFailurePage>(`${path}/failures`, {}, { refetchMs });
  return (
    <Section title={t('failures')} plain>
      <Table
        label={t('failures')}
        columns={useColumns()}
        rows={failures.data?.items}
        source={failures}
        rowKey={({ traceId, at, upstreamModel }) => `${traceId} ${at} ${upstreamModel}`}
        rowLink={({ traceId }) => ({ to: '/calls/$id', params: { id: traceId } })}
        empty={<Empty title={t('failures.none')} />}
      />
    </Section>
  );
}

function useColumns(): readonly Column<ChannelFailureView>[] {
  const t = useTexts(texts);
  return useMemo(
    (): readonly Column<ChannelFailureView>[] => [
      { id: 'when', header: t('when'), width: 120, cell: ({ at }) => <Time iso={at} /> },
      { id: 'kind', header: t('kind'), width: 190, cell: ({ kind }) => texts.kindText(t, kind) },
      {
        ...{ id: 'model', header: t('model'), width: 190, hideBelow: 'md' },
        cell: ({ model, upstreamModel }) => (
          <bdi className="block truncate" title={upstreamModel}>
            {model}
          </bdi>
        ),
      },
      {
        ...{ id: 'words', header: t('words'), hideBelow: 'sm' },
        cell: ({ words }) => (
          <bdi className="block truncate text-soft" title={words ?? ''}>
            {words ?? '–'}
          </bdi>
        ),
      },
      {
        ...{ id: 'call', header: t('call'), width: 110, align: 'end', hideBelow: 'xs' },
        cell: ({ traceId }) => <code className="font-mono text-xs text-soft">{traceId.slice(-8)}</code>,
      },
    ],
    [t],
  );
}
