import type { ChannelView, DeclarationView, DeclaredPlaceView } from '@headgate/gateway/console';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Code } from '../../ui/code.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './texts.ts';

/** Who declares a channel and where, its plain facts, and all of it as a configuration file writes it. */
export function Declaration({ channel, path }: { readonly channel: ChannelView; readonly path: string }) {
  const t = useTexts(texts);
  const { id, source } = channel;
  const text = useGet<DeclarationView>(`${path}/declaration`);
  const place = useGet<DeclaredPlaceView>(
    `/declared-places/channels/${encodeURIComponent(id)}`,
    {},
    { enabled: source === 'file' },
  );
  const where = placeText(place.data);
  return (
    <Section title={t('declaration')}>
      <div className="flex flex-col gap-4">
        <Facts
          items={[
            { label: t('source'), value: t(`source.${source}`) },
            ...(where === null
              ? []
              : [{ label: t('source.file'), value: <code className="break-all">{where}</code> }]),
            { label: t('provider'), value: channel.providerName },
            { label: t('address'), value: <bdi className="break-all">{channel.baseUrl}</bdi> },
            { label: t('alias'), value: <bdi>{channel.alias}</bdi> },
            { label: t('priority'), value: channel.priority },
          ]}
        />
        {text.error ? (
          <ErrorState error={text.error} onRetry={() => void text.refetch()} />
        ) : text.data === undefined ? (
          <Skeleton className="h-32 w-full" />
        ) : (
          <Code>{text.data.yaml.trimEnd()}</Code>
        )}
      </div>
    </Section>
  );
}

function placeText(place: DeclaredPlaceView | undefined): string | null {
  if (place?.file == null) return null;
  return place.line === null ? place.file : `${place.file}:${place.line}`;
}
