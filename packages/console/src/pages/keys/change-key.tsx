import type { KeyChoicesView, KeyView } from '@headgate/gateway/console';
import { useChange } from '../../api/hooks.ts';
import { Problem, wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { KeyFields } from './key-fields.tsx';
import { formOfKey, type KeyFormValues, patchOf } from './key-form.ts';
import * as texts from './texts.ts';

interface ChangeKeyProps {
  readonly keyView: KeyView;
  /** The state that the form shows: whoever has changed it since is not overwritten. */
  readonly etag: string | null;
  readonly choices: KeyChoicesView;
}

/** Changes what a key may. */
export function ChangeKey({ keyView, etag, choices }: ChangeKeyProps) {
  const t = useTexts(texts);
  const path = `/keys/${keyView.id}`;
  const change = useChange<object, KeyView>('PATCH', path, { invalidates: ['/keys'] });
  const form = useForm<KeyFormValues, KeyView>({
    initial: formOfKey(keyView),
    submit: (values) => change.mutateAsync({ body: patchOf(values), etag }),
    onDone: ({ name }) => toast.success(t('changed', { name })),
  });
  const isStale = form.problem instanceof Problem && form.problem.status === 412;
  return (
    <Section>
      <form onSubmit={(event) => void form.submit(event)} className="flex max-w-2xl flex-col gap-4">
        <KeyFields form={form} choices={choices} isNew={false} />
        {form.problem !== null && <Notice tone="bad">{isStale ? t('stale') : wordsOf(form.problem)}</Notice>}
        <div>
          <Button type="submit" variant="primary" busy={form.isBusy}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
