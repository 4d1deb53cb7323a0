import type { KeyChoicesView, MadeKeyView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange, useGet } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { KeyFields } from './key-fields.tsx';
import { draftOf, emptyKey, type KeyFormValues } from './key-form.ts';
import { groupsOf, modelsOf } from './key-place.ts';
import { SecretOnce } from './secret-once.tsx';
import * as texts from './texts.ts';

interface MakeKeyProps {
  readonly onClose: () => void;
}

/** Makes a key: the form first, and behind it the secret, which stays until it is closed by hand. */
export function MakeKey({ onClose }: MakeKeyProps) {
  const t = useTexts(texts);
  const [made, setMade] = useState<MadeKeyView | null>(null);
  const choices = useGet<KeyChoicesView>('/keys/choices');
  if (made !== null) return <MadeKey made={made} choices={choices.data} onClose={onClose} />;
  if (choices.data !== undefined)
    return <DraftOfKey choices={choices.data} onClose={onClose} onMade={setMade} />;
  return (
    <Dialog open onClose={onClose} title={t('makeTitle')} size="md">
      {choices.error ? (
        <ErrorState error={choices.error} onRetry={() => void choices.refetch()} />
      ) : (
        <Skeleton className="h-64 w-full" />
      )}
    </Dialog>
  );
}

interface DraftOfKeyProps {
  readonly choices: KeyChoicesView;
  readonly onClose: () => void;
  readonly onMade: (made: MadeKeyView) => void;
}

function DraftOfKey({ choices, onClose, onMade }: DraftOfKeyProps) {
  const t = useTexts(texts);
  const { account } = useSession();
  const make = useChange<object, MadeKeyView>('POST', '/keys', { invalidates: ['/keys'] });
  const form = useForm<KeyFormValues, MadeKeyView>({
    initial: { ...emptyKey, ...firstChoice(choices, account) },
    submit: (values) => make.mutateAsync({ body: draftOf(values) }),
    onDone: onMade,
  });
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button variant="primary" busy={form.isBusy} onClick={() => void form.submit()}>
        {t('make')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('makeTitle')}
      description={t('makeDescription')}
      size="md"
      footer={footer}
    >
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <KeyFields form={form} choices={choices} isNew />
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
        <button type="submit" hidden aria-hidden tabIndex={-1} />
      </form>
    </Dialog>
  );
}

/** The account that the pages are narrowed to, or the first one that keys may be made in, and its first group. */
function firstChoice({ accounts, groups }: KeyChoicesView, narrowed: string | null) {
  const possible = accounts.filter((each) => each.mayMake && groupsOf(each, groups).length > 0);
  const account =
    possible.find(({ id }) => id === narrowed) ?? possible[0] ?? accounts.find((each) => each.mayMake);
  const [group] = groupsOf(account, groups);
  return { account: account?.id ?? '', group: group?.id ?? '' };
}

interface MadeKeyProps {
  readonly made: MadeKeyView;
  readonly choices: KeyChoicesView | undefined;
  readonly onClose: () => void;
}

/** A key that was just made, or made anew. */
export function MadeKey({ made: { secret, key }, choices, onClose }: MadeKeyProps) {
  const t = useTexts(texts);
  const { deployment } = useSession();
  const model = key.models?.[0] ?? (choices === undefined ? null : (modelsOf(key.group, choices)[0] ?? null));
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('madeTitle', { name: key.name })}
      size="lg"
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('haveIt')}
        </Button>
      }
    >
      {secret === null ? (
        <Notice tone="warn">{t('onceGone')}</Notice>
      ) : (
        <SecretOnce secret={secret} platform={key.platform} origin={deployment.apiOrigin} model={model} />
      )}
    </Dialog>
  );
}
