import type { DeclarationView, DeclaredPlaceView, WebhookView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './webhook-texts.ts';

/** Says who declares a webhook that is not the console's: the file, with the line where that is known. */
export function DeclaredWebhook({ webhook: { name, source } }: { readonly webhook: WebhookView }) {
  const t = useTexts(texts);
  const isOfFile = source === 'file';
  const place = useGet<DeclaredPlaceView>(
    `/declared-places/webhooks/${encodeURIComponent(name)}`,
    {},
    { enabled: isOfFile },
  );
  const { file = null, line = null } = place.data ?? {};
  return (
    <Notice title={t('declaredTitle')}>
      {t(isOfFile ? 'declared.file' : 'declared.other')}{' '}
      {file !== null && <code className="break-all">{line === null ? file : `${file}:${line}`}</code>}
    </Notice>
  );
}

/** A webhook as a configuration file declares it: asked for by hand, as its address is whole there. */
export function WebhookYaml({ path }: { readonly path: string }) {
  const t = useTexts(texts);
  const [isShown, setShown] = useState(false);
  const declaration = useGet<DeclarationView>(`${path}/declaration`, {}, { enabled: isShown });
  const show = <Button onClick={() => setShown(true)}>{t('showYaml')}</Button>;
  return (
    <Section title={t('asYaml')} description={t('asYamlHint')} actions={isShown ? undefined : show} plain>
      {declaration.error ? (
        <ErrorState error={declaration.error} onRetry={() => void declaration.refetch()} />
      ) : declaration.data === undefined ? (
        isShown && <Skeleton className="h-32 w-full" />
      ) : (
        <Code>{declaration.data.yaml.trimEnd()}</Code>
      )}
    </Section>
  );
}
