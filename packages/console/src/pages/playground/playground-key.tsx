import type { KeyChoicesView, MadeKeyView } from '@headgate/gateway/console';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { keyPlaceOf } from '../keys/key-place.ts';
import type { KeyPlatform } from '../keys/snippets.ts';
import { type HeldKey, heldKeys } from './held-key.ts';
import * as texts from './texts.ts';

const dayMs = 86_400_000;
/** The most that a key of the playground may spend, in USD. */
const smallBudget = '1';

interface PlaygroundKeyProps {
  readonly platform: KeyPlatform;
  readonly held: HeldKey | null;
  readonly choices: KeyChoicesView | undefined;
}

/** The key that the playground calls with: pasted, or made for a day with a small budget. */
export function PlaygroundKey({ platform, held, choices }: PlaygroundKeyProps) {
  const t = useTexts(texts);
  const session = useSession();
  const [pasted, setPasted] = useState('');
  const make = useChange<object, MadeKeyView>('POST', '/keys', { invalidates: ['/keys'] });
  if (held !== null)
    return (
      <p className="flex flex-wrap items-center gap-2 text-soft">
        <KeyRound size={14} aria-hidden />
        {t('keyHeld', { name: held.name })}
        <Button size="sm" variant="ghost" onClick={() => heldKeys.drop(platform)}>
          {t('dropKey')}
        </Button>
      </p>
    );
  const place = keyPlaceOf(platform, choices, session.account);
  const makeOne = async () => {
    const expires = new Date(Date.now() + dayMs).toISOString();
    const body = { ...place, name: t('keyName'), expires, budgets: { total: smallBudget } };
    const { secret, key } = await make.mutateAsync({ body });
    if (secret !== null) heldKeys.hold({ secret, platform: key.platform, name: key.name });
  };
  return (
    <Section title={t('keyTitle')} description={t('keyDetail', { platform })}>
      <div className="flex flex-wrap items-end gap-3">
        {place !== null && (
          <Button
            variant="primary"
            icon={KeyRound}
            busy={make.isPending}
            onClick={() => void makeOne().catch(() => undefined)}
          >
            {t('makeKey')}
          </Button>
        )}
        <form
          className="flex min-w-0 flex-1 basis-72 items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (pasted.trim() !== '')
              heldKeys.hold({ secret: pasted.trim(), platform, name: t('pastedKey') });
            setPasted('');
          }}
        >
          <Field label={t('pasteKey')} className="flex-1">
            <Input
              type="password"
              autoComplete="off"
              value={pasted}
              onChange={(event) => setPasted(event.target.value)}
              placeholder="sk-…"
            />
          </Field>
          <Button type="submit" disabled={pasted.trim() === ''}>
            {t('useKey')}
          </Button>
        </form>
      </div>
      {make.error !== null && (
        <div className="mt-3">
          <Notice tone="bad">{make.error.message}</Notice>
        </div>
      )}
    </Section>
  );
}
