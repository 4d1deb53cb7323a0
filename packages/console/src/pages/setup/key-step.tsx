import type { KeyChoicesView, MadeKeyView } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useChange, useGet } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { keyPlaceOf } from '../keys/key-place.ts';
import { SecretOnce } from '../keys/secret-once.tsx';
import type { KeyPlatform } from '../keys/snippets.ts';
import { heldKeys } from '../playground/held-key.ts';
import * as texts from './texts.ts';

interface KeyStepProps {
  /** A model of the channel that was just made, for the examples. */
  readonly model: string | null;
  readonly onDone: () => void;
  readonly onSkip: () => void;
}

const platforms: readonly KeyPlatform[] = ['completions', 'messages', 'native'];

/** The first key, shown once with lines to paste; it calls in the next step, from this tab's memory. */
export function KeyStep({ model, onDone, onSkip }: KeyStepProps) {
  const t = useTexts(texts);
  const { deployment } = useSession();
  const choices = useGet<KeyChoicesView>('/keys/choices');
  const [made, setMade] = useState<MadeKeyView | null>(null);
  if (choices.error !== null)
    return <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />;
  if (choices.data === undefined) return <Skeleton className="h-40 w-full" />;
  if (made === null) return <FirstKey choices={choices.data} onMade={setMade} onSkip={onSkip} />;
  const example = model ?? choices.data.models[0]?.id ?? null;
  return (
    <div className="flex min-w-0 flex-col gap-4" role="status">
      {made.secret !== null && (
        <SecretOnce
          secret={made.secret}
          platform={made.key.platform}
          origin={deployment.apiOrigin}
          model={example}
        />
      )}
      <div>
        <Button variant="primary" autoFocus onClick={onDone}>
          {t('toCall')}
        </Button>
      </div>
    </div>
  );
}

interface FirstKeyProps {
  readonly choices: KeyChoicesView;
  readonly onMade: (made: MadeKeyView) => void;
  readonly onSkip: () => void;
}

function FirstKey({ choices, onMade, onSkip }: FirstKeyProps) {
  const t = useTexts(texts);
  const { account } = useSession();
  const make = useChange<object, MadeKeyView>('POST', '/keys', { invalidates: ['/keys'] });
  const form = useForm({
    initial: { name: t('firstKey'), platform: platforms[0] ?? 'completions' },
    submit: async ({ name, platform }) => {
      const place =
        keyPlaceOf(platform, choices, account) ?? (await makePlace(platform, choices, t('firstAccount')));
      return make.mutateAsync({ body: { ...place, name } });
    },
    onDone: (made) => {
      const { secret, key } = made;
      if (secret !== null) heldKeys.hold({ secret, platform: key.platform, name: key.name });
      onMade(made);
    },
  });
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex max-w-md flex-col gap-4">
      <Field label={t('keyName')} hint={t('keyName.hint')} {...form.about('name')}>
        <Input {...form.text('name')} required maxLength={200} />
      </Field>
      <div className="flex flex-col gap-1">
        <p className="text-sm font-medium" aria-hidden>
          {t('platform')}
        </p>
        <div>
          <Segments
            label={t('platform')}
            value={form.values.platform}
            options={platforms.map((value) => ({ value, label: t(`platform.${value}`) }))}
            onChange={(value) =>
              form.set('platform', platforms.find((each) => each === value) ?? 'completions')
            }
          />
        </div>
        <p className="text-xs text-soft">{t(`platform.${form.values.platform}.hint`)}</p>
      </div>
      {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {t('makeKey')}
        </Button>
        <Button variant="ghost" onClick={onSkip}>
          {t('skip')}
        </Button>
      </div>
    </form>
  );
}

/** A gateway that nobody has configured has no account and no group yet, and a key belongs to both. */
async function makePlace(platform: KeyPlatform, { accounts, groups }: KeyChoicesView, name: string) {
  const account = accounts.find(({ mayMake }) => mayMake)?.id ?? 'main';
  if (accounts.length === 0) await api.post('/accounts', { body: { id: account, name } });
  const group = groups.find((each) => each.platform === platform)?.id ?? platform;
  if (!groups.some(({ id }) => id === group)) await api.post('/groups', { body: { id: group, platform } });
  return { account, group };
}
