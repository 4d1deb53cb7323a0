import type { GroupView } from '@headgate/gateway/console';
import { useChange } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { formOfGroup, GroupFields, type GroupFormValues, patchOf } from './group-fields.tsx';
import * as texts from './texts.ts';

/** Changes a group. */
export function ChangeGroup({ group, etag }: { readonly group: GroupView; readonly etag: string | null }) {
  const t = useTexts(texts);
  const change = useChange<object, GroupView>('PATCH', `/groups/${group.id}`, {
    invalidates: ['/groups', '/keys'],
  });
  const form = useForm<GroupFormValues, GroupView>({
    initial: formOfGroup(group),
    submit: (values) => change.mutateAsync({ body: patchOf(values), etag }),
    onDone: ({ name }) => toast.success(t('changed', { name })),
  });
  return (
    <Section>
      <form onSubmit={(event) => void form.submit(event)} className="flex max-w-2xl flex-col gap-4">
        <GroupFields form={form} isNew={false} />
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
        <div>
          <Button type="submit" variant="primary" busy={form.isBusy}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
