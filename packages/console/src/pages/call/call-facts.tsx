import type { CallView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import * as texts from './texts.ts';

/** All that is known of a call beside its money and its times. */
export function CallFacts({ call }: { readonly call: CallView }) {
  const t = useTexts(texts);
  const finish = [
    call.finishReason,
    call.finishReasonRaw === call.finishReason ? null : call.finishReasonRaw,
  ];
  const said: readonly (readonly [label: string, value: string | null])[] = [
    [t('surface'), `${call.surface}, ${call.stream ? t('yes') : t('no')}`],
    [t('model'), call.modelRequested],
    [t('served'), call.modelServed === call.modelRequested ? null : call.modelServed],
    [t('group'), call.groupId],
    [t('account'), call.accountId],
    [t('http'), call.httpStatus === null ? null : String(call.httpStatus)],
    [t('error'), call.errorCode],
    [t('finish'), finish.filter((word) => word !== null).join(' · ') || null],
    [t('tag'), call.tag],
    [t('clientRequestId'), call.clientRequestId],
    [t('parentTrace'), call.parentTrace],
    [t('userAgent'), call.userAgent],
    [t('priceVersion'), call.priceVersion],
    ...Object.entries(call.terms).map(([name, value]) => [name, String(value)] as const),
  ];
  const items: readonly Fact[] = [
    {
      label: t('key'),
      value: (
        <Link to="/ledger" search={{ key: call.keyId }}>
          {call.keyName}
        </Link>
      ),
    },
    { label: t('began'), value: <Time iso={call.startedAt} absolute /> },
    ...(call.finishedAt === null
      ? []
      : [{ label: t('ended'), value: <Time iso={call.finishedAt} absolute /> }]),
    ...said.flatMap(([label, value]) => (value === null ? [] : [{ label, value }])),
  ];
  return (
    <div className="[&_time]:whitespace-normal">
      <Facts items={items} />
    </div>
  );
}
