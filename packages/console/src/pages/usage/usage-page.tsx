import type { SessionView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { useCurrencyOf } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import * as texts from './texts.ts';
import { askUsage, type KeyUsageAnswer, UsageRefusal, type UsedCall } from './usage-client.ts';
import { UsageReport } from './usage-report.tsx';

/** Everything that has been fetched of a key, which this tab alone knows. */
interface Found {
  readonly secret: string;
  readonly answer: KeyUsageAnswer;
  readonly calls: readonly UsedCall[];
}

const days = '30';
const callsOfPage = '50';

interface PasteKeyProps {
  readonly isBusy: boolean;
  readonly mayAsk: boolean;
  readonly onKey: (key: string) => void;
}

function PasteKey({ isBusy, mayAsk, onKey }: PasteKeyProps) {
  const t = useTexts(texts);
  const [secret, setSecret] = useState('');
  return (
    <form
      className="flex max-w-xl items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onKey(secret.trim());
      }}
    >
      <Field label={t('key')} className="flex-1">
        <Input
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="sk-…"
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" busy={isBusy} disabled={secret.trim() === '' || !mayAsk}>
        {t('show')}
      </Button>
    </form>
  );
}

/** Anybody's page: paste a key, see what it has used. It is the browser's face of `GET /v1/usage`. */
export function UsagePage() {
  const t = useTexts(texts);
  const session = useGet<SessionView>('/session', {}, { staleMs: 60_000 });
  useCurrencyOf(session.data?.deployment);
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<UsageRefusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const apiOrigin = session.data?.deployment.apiOrigin;
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const ask = async (key: string, cursor: string | null, before: readonly UsedCall[]) => {
    if (apiOrigin === undefined) return;
    setBusy(true);
    setProblem(null);
    try {
      const more: Record<string, string> = cursor === null ? {} : { cursor };
      const answer = await askUsage(apiOrigin, key, { days, limit: callsOfPage, timezone, ...more });
      setFound({ secret: key, answer, calls: [...before, ...answer.data] });
    } catch (error) {
      setProblem(error instanceof UsageRefusal ? error : new UsageRefusal(0, String(error)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <BarePage
      title={found === null ? t('title') : t('titleOf', { name: found.answer.key })}
      description={t('description')}
      width="wide"
      deployment={session.data?.deployment.name}
    >
      <div className="flex flex-col gap-5">
        {found === null ? (
          <PasteKey
            isBusy={isBusy}
            mayAsk={apiOrigin !== undefined}
            onKey={(key) => void ask(key, null, [])}
          />
        ) : (
          <div className="flex gap-2">
            <Button busy={isBusy} onClick={() => void ask(found.secret, null, [])}>
              {t('refresh')}
            </Button>
            <Button variant="ghost" onClick={() => setFound(null)}>
              {t('forget')}
            </Button>
          </div>
        )}
        {problem !== null && (
          <Notice tone="bad" title={problem.status === 0 ? t('unreachable') : t('refused')}>
            {problem.message}
          </Notice>
        )}
        {session.error !== null && <Notice tone="bad">{session.error.message}</Notice>}
        {found !== null && (
          <UsageReport
            answer={found.answer}
            calls={found.calls}
            isBusy={isBusy}
            onMore={() => void ask(found.secret, found.answer.next_cursor, found.calls)}
          />
        )}
      </div>
    </BarePage>
  );
}
