import type { IncidentView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { isolated } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, TextArea } from '../../ui/field.tsx';
import { Time } from '../../ui/figures.tsx';
import { useForm } from '../../ui/form.ts';
import * as texts from './texts.ts';

/** An incident with all that is known of it, private channels by their ids. */
export function IncidentCard({ incident }: { readonly incident: IncidentView }) {
  const t = useTexts(texts);
  const [isSaying, setSaying] = useState(false);
  const isOpen = incident.resolvedAt === null;
  return (
    <li className="flex flex-col gap-2 border-line py-3 not-last:border-b">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Badge tone={isOpen ? 'bad' : 'neutral'}>{isOpen ? t('open') : t('resolved')}</Badge>
        <bdi className="font-medium break-all">
          {incident.subjects.map(({ name }) => isolated(name)).join(', ')}
        </bdi>
        <span className="text-sm text-soft">
          {t('started')} <Time iso={incident.startedAt} absolute />
        </span>
        <span className="ml-auto">
          <Button size="sm" onClick={() => setSaying(true)}>
            {t('say')}
          </Button>
        </span>
      </div>
      <ol className="flex flex-col gap-1 border-l border-line pl-3 text-sm">
        {incident.entries.map((entry) => (
          <li key={entry.number} className="flex flex-wrap gap-x-3">
            <span className="text-soft">
              <Time iso={entry.at} absolute />
            </span>
            {entry.words === null ? (
              <span className="break-all">
                {entry.subject !== null && <bdi>{entry.subject.name}</bdi>}{' '}
                {entry.kind !== 'words' && t(`kind.${entry.kind}`)}
                {entry.state !== null && `: ${t(`state.${entry.state}`)}`}
              </span>
            ) : (
              <span className="break-words whitespace-pre-line">
                <bdi className="text-soft">{entry.author}</bdi>{' '}
                {[entry.words.en, entry.words.zh].filter((text) => text !== undefined).join('\n')}
              </span>
            )}
          </li>
        ))}
      </ol>
      {isSaying && <SayWords id={incident.id} onClose={() => setSaying(false)} />}
    </li>
  );
}

function SayWords({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const change = useChange<object>('POST', `/status/incidents/${id}/words`, {
    invalidates: ['/status/incidents'],
  });
  const form = useForm({
    initial: { en: '', zh: '' },
    submit: ({ en, zh }) =>
      change.mutateAsync({ body: { ...(en === '' ? {} : { en }), ...(zh === '' ? {} : { zh }) } }),
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t('say.title', { id })}
      description={t('say.text')}
      footer={
        <Button type="submit" form="words-form" variant="primary" busy={form.isBusy}>
          {t('publish')}
        </Button>
      }
    >
      <form id="words-form" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('english')} hint={t('words.hint')} {...form.about('en')}>
          <TextArea {...form.text('en')} rows={3} maxLength={2000} />
        </Field>
        <Field label={t('chinese')} {...form.about('zh')}>
          <TextArea {...form.text('zh')} rows={3} maxLength={2000} />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
    </Dialog>
  );
}
