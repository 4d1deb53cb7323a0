import type { KeyChoicesView } from '@headgate/gateway/console';
import { Send, Square } from 'lucide-react';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Select, TextArea } from '../../ui/field.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useHeldKeys } from '../playground/held-key.ts';
import { LaneView } from '../playground/lane-view.tsx';
import { requestOf, usualSettings } from '../playground/play-settings.tsx';
import { PlaygroundKey } from '../playground/playground-key.tsx';
import { surfaces } from '../playground/surfaces.ts';
import { useLane } from '../playground/use-lane.ts';
import * as texts from './texts.ts';

/** The first call, from this page as any caller makes it: it streams here, and its entry is in the ledger. */
export function CallStep({ model: wished }: { readonly model: string | null }) {
  const t = useTexts(texts);
  const { apiOrigin } = useSession().deployment;
  const choices = useGet<KeyChoicesView>('/keys/choices');
  const [held = null] = useHeldKeys();
  const [chosen, setChosen] = useState<string | null>(null);
  const [prompt, setPrompt] = useState(t('firstPrompt'));
  const { state, send, stop, clear } = useLane();
  const models = (choices.data?.models ?? []).map(({ id }) => id);
  const usual = wished !== null && models.includes(wished) ? wished : models[0];
  const model = chosen ?? usual ?? null;
  const platform = held?.platform ?? 'completions';
  const surface = surfaces.find((each) => each.platform === platform);
  const ask = () => {
    if (held === null || model === null || surface === undefined) return;
    clear();
    const request = requestOf(usualSettings, model);
    void send({ apiOrigin, secret: held.secret, surface, request, turn: { role: 'user', text: prompt } });
  };
  if (choices.error !== null)
    return <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />;
  if (choices.data !== undefined && models.length === 0) return <Notice tone="warn">{t('noModels')}</Notice>;
  const traceId = state.end?.status === 200 ? state.end.traceId : null;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <PlaygroundKey platform={platform} held={held} choices={choices.data} />
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <Field label={t('model')} className="max-w-md">
          <Select
            value={model ?? ''}
            onChange={setChosen}
            options={models.map((id) => ({ value: id, label: id }))}
          />
        </Field>
        <Field label={t('prompt')}>
          <TextArea rows={2} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
        </Field>
        <div>
          {state.isRunning ? (
            <Button icon={Square} onClick={stop}>
              {t('stop')}
            </Button>
          ) : (
            <Button
              type="submit"
              variant={traceId === null ? 'primary' : 'secondary'}
              icon={Send}
              disabled={held === null || model === null || prompt.trim() === ''}
            >
              {t('send')}
            </Button>
          )}
        </div>
      </form>
      {(state.turns.length > 0 || state.isRunning) && <LaneView state={state} model={model ?? ''} />}
      {traceId !== null && <Answered traceId={traceId} />}
    </div>
  );
}

/** Leads to the entry of the call, which is there by now. */
function Answered({ traceId }: { readonly traceId: string }) {
  const t = useTexts(texts);
  return (
    <Notice tone="good" title={t('itWorks')}>
      <p>{t('itWorksDetail')}</p>
      <p className="mt-2 flex flex-wrap gap-2 pb-1">
        <ButtonLink to="/ledger" search={{ trace: traceId }} variant="primary">
          {t('toLedger')}
        </ButtonLink>
        <ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>
        <ButtonLink to="/">{t('toConsole')}</ButtonLink>
      </p>
    </Notice>
  );
}
