import type { CallRow } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Count, Duration, Money, Time } from '../../ui/figures.tsx';
import { countText } from '../../ui/numbers.ts';
import type { Column } from '../../ui/table.tsx';
import { CallStatus } from './call-status.tsx';
import * as texts from './texts.ts';

/** The columns of the ledger; channels are for operators. */
export function useLedgerColumns(): readonly Column<CallRow>[] {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  return useMemo(() => {
    const channel: Column<CallRow> = {
      id: 'channel',
      header: t('channel'),
      hideBelow: 'lg',
      width: 140,
      cell: ({ channelId }) => <span className="text-soft">{channelId ?? '–'}</span>,
    };
    return [
      { id: 'time', header: t('time'), width: 118, cell: ({ startedAt }) => <Time iso={startedAt} /> },
      {
        id: 'model',
        header: t('model'),
        cell: ({ modelRequested }) => <span title={modelRequested}>{modelRequested}</span>,
      },
      {
        id: 'key',
        header: t('key').split(' ')[0],
        hideBelow: 'md',
        cell: ({ keyName }) => <span title={keyName}>{keyName}</span>,
      },
      ...(isOperator ? [channel] : []),
      {
        id: 'status',
        header: t('status'),
        hideBelow: 'sm',
        width: 230,
        cell: (call) => <CallStatus call={call} />,
      },
      {
        id: 'tokens',
        header: t('tokens'),
        hideBelow: 'md',
        align: 'end',
        width: 150,
        cell: (call) => <Tokens call={call} />,
      },
      {
        id: 'charge',
        header: t('charge'),
        align: 'end',
        width: 96,
        cell: ({ charge }) => <Money usd={charge} />,
      },
      {
        id: 'ttft',
        header: t('ttft'),
        hideBelow: 'lg',
        align: 'end',
        width: 104,
        cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
      },
      {
        id: 'duration',
        header: t('duration'),
        hideBelow: 'lg',
        align: 'end',
        width: 90,
        cell: ({ durationMs }) => <Duration ms={durationMs} />,
      },
    ];
  }, [t, isOperator]);
}

function Tokens({ call: { inputTokens, cachedTokens, outputTokens } }: { readonly call: CallRow }) {
  const t = useTexts(texts);
  const cached = cachedTokens === 0 ? undefined : t('cached', { tokens: countText(cachedTokens) });
  return (
    <span title={cached}>
      <Count value={inputTokens} /> <span className="text-faint">→</span> <Count value={outputTokens} />
    </span>
  );
}
