import type { CallRow } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { type Filter, type FilterValues, useFilters } from '../../ui/filters.tsx';
import * as texts from './texts.ts';

const hourMs = 3_600_000;
const ranges = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 168 * hourMs,
  '30d': 720 * hourMs,
} as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as readonly Range[]; // The keys of the table are its names.

const statuses = [
  ...(['complete', 'failed', 'timed_out', 'caller_gone', 'limit_reached', 'interrupted', 'open'] as const),
] as const;

const texted = ['trace', 'model', 'key', 'tag'] as const;
const operatorTexted = ['account', 'group', 'channel'] as const;

/** The filters of the ledger as the bar shows them. */
export function useLedgerFilters(): readonly Filter[] {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  return useMemo(() => {
    const ofText = (name: (typeof texted)[number] | (typeof operatorTexted)[number]): Filter => ({
      ...{ name, label: t(name), kind: 'text' },
    });
    return [
      {
        name: 'range',
        label: t('range'),
        kind: 'select',
        options: rangeNames.map((value) => ({ value, label: t(`range.${value}`) })),
      },
      {
        name: 'status',
        label: t('status'),
        kind: 'select',
        options: statuses.map((value) => ({ value, label: t(`status.${value}`) })),
      },
      {
        ...{ name: 'billed', label: t('billed'), kind: 'select' },
        options: [
          { value: 'true', label: t('billed.true') },
          { value: 'false', label: t('billed.false') },
        ],
      },
      ...texted.map(ofText),
      ...(isOperator ? operatorTexted.map(ofText) : []),
    ];
  }, [t, isOperator]);
}

const names = [
  'range',
  'status',
  'billed',
  ...texted,
  ...operatorTexted,
  'reason',
  'error',
  'surface',
  'from',
  'to',
];

/** The filter of the address, as the API is asked for it. A range begins at a whole minute, so that it is the same question for a while. */
export function useLedgerQuery(): { readonly query: FilterValues; readonly isLive: boolean } {
  const [values] = useFilters(names);
  const { account } = useSession();
  const text = JSON.stringify(values);
  return useMemo(() => {
    const { range = '', trace, ...rest } = JSON.parse(text) as FilterValues;
    const lengthMs = Object.hasOwn(ranges, range) ? ranges[range as Range] : null;
    // Whoever looks for a trace id looks for it at any time.
    const isAnyTime = lengthMs === null || trace !== undefined;
    const from = isAnyTime
      ? undefined
      : new Date(Math.floor((Date.now() - lengthMs) / 60_000) * 60_000).toISOString();
    const ofTrace = trace === undefined || !/^[0-9a-fA-F]{6,32}$/.test(trace) ? {} : { trace };
    return {
      query: {
        ...(from === undefined ? {} : { from }),
        ...(account === null ? {} : { account }),
        ...rest,
        ...ofTrace,
      },
      isLive: rest['to'] === undefined && trace === undefined,
    };
  }, [text, account]);
}

/** True of a call that the filter lets through: calls come live without having been asked for. */
export function passes(call: CallRow, query: FilterValues): boolean {
  const isBilled = call.status === 'open' ? null : String(call.unbilledReason === null);
  const cells: FilterValues = {
    ...{
      status: call.status,
      key: call.keyId,
      account: call.accountId,
      group: call.groupId,
      surface: call.surface,
    },
    ...{
      model: call.modelRequested,
      tag: call.tag ?? '',
      channel: call.channelId ?? '',
      error: call.errorCode ?? '',
    },
    ...{ billed: isBilled ?? '', reason: call.unbilledReason ?? '' },
  };
  return Object.entries(query).every(
    ([name, value]) => name === 'from' || value === undefined || cells[name] === value,
  );
}
