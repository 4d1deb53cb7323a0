import type { GroupView } from '@headgate/gateway/console';
import { useChange } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { draftOf, GroupFields, type GroupFormValues, newGroup } from './group-fields.tsx';
import * as texts from './texts.ts';

/** Makes a group. */
export function GroupDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const make = useChange<object, GroupView>('POST', '/groups', { invalidates: ['/groups', '/keys/choices'] });
  const form = useForm<GroupFormValues, GroupView>({
    initial: newGroup,
    submit: (values) => make.mutateAsync({ body: draftOf(values) }),
    onDone: onClose,
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
    <Dialog open onClose={onClose} title={t('make')} size="md" footer={footer}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <GroupFields form={form} isNew />
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      </form>
    </Dialog>
  );
}
