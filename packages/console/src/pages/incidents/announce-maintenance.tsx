import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import * as texts from './texts.ts';

const initial = { titleEn: '', titleZh: '', startsAt: '', endsAt: '', subjects: '' };

/** Members that are left empty are not sent: the API says what is missing. */
function draftOf({ titleEn, titleZh, startsAt, endsAt, subjects }: typeof initial): object {
  const named = subjects
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    title: { ...(titleEn === '' ? {} : { en: titleEn }), ...(titleZh === '' ? {} : { zh: titleZh }) },
    startsAt: startsAt === '' ? '' : new Date(startsAt).toISOString(),
    endsAt: endsAt === '' ? '' : new Date(endsAt).toISOString(),
    ...(named.length === 0 ? {} : { subjects: named.map(subjectOf) }),
  };
}

function subjectOf(text: string) {
  return text.startsWith('channel:')
    ? { kind: 'channel', name: text.slice('channel:'.length) }
    : { kind: 'model', name: text };
}

/** Asks what is to be done, when, and to what. */
export function AnnounceMaintenance({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const change = useChange<object>('POST', '/status/maintenance', { invalidates: ['/status/maintenance'] });
  const form = useForm({
    initial,
    submit: (values) => change.mutateAsync({ body: draftOf(values) }),
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t('announce')}
      description={t('announce.text')}
      footer={
        <Button type="submit" form="maintenance-form" variant="primary" busy={form.isBusy}>
          {t('publish')}
        </Button>
      }
    >
      <form
        id="maintenance-form"
        onSubmit={(event) => void form.submit(event)}
        className="flex flex-col gap-4"
      >
        <Field label={t('english')} hint={t('words.hint')}>
          <Input {...form.text('titleEn')} maxLength={200} />
        </Field>
        <Field label={t('chinese')}>
          <Input {...form.text('titleZh')} maxLength={200} />
        </Field>
        <div className="flex flex-wrap gap-4">
          <Field
            label={t('starts')}
            hint={t('times.hint')}
            required
            className="flex-1"
            {...form.about('startsAt')}
          >
            <Input {...form.text('startsAt')} type="datetime-local" />
          </Field>
          <Field label={t('ends')} required className="flex-1" {...form.about('endsAt')}>
            <Input {...form.text('endsAt')} type="datetime-local" />
          </Field>
        </div>
        <Field label={t('subjects')} hint={t('subjects.hint')} {...form.about('subjects')}>
          <Input {...form.text('subjects')} />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
    </Dialog>
  );
}
