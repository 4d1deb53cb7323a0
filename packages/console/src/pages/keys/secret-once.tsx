import { useTexts } from '../../app/texts.ts';
import { CodeTabs } from '../../ui/code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type KeyPlatform, snippetsFor } from './snippets.ts';
import * as texts from './texts.ts';

interface SecretOnceProps {
  readonly secret: string;
  readonly platform: KeyPlatform;
  readonly origin: string;
  /** A model that the key may call; null where there is none. */
  readonly model: string | null;
}

/** A key's secret, which is never shown again, and what to do with it. */
export function SecretOnce({ secret, platform, origin, model }: SecretOnceProps) {
  const t = useTexts(texts);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Notice tone="warn" title={t('onceTitle')}>
        {t('onceDetail')}
      </Notice>
      <div className="flex min-w-0 items-center gap-2 rounded-md border border-strong/70 bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-sm break-all" data-secret>
          {secret}
        </code>
        <Copy text={secret} label={t('copyKey')} />
      </div>
      <KeySnippets secret={secret} platform={platform} origin={origin} model={model} />
    </div>
  );
}

/** Ready-to-paste ways to use a key. */
export function KeySnippets({ secret, platform, origin, model }: SecretOnceProps) {
  const snippets = snippetsFor(platform, { origin, secret, model: model ?? 'MODEL' });
  return <CodeTabs items={snippets.map(({ label, code }) => ({ label, code }))} />;
}
