import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import * as texts from './texts.ts';

interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly initial?: string;
  readonly onClose: () => void;
  readonly onName: (name: string) => Promise<void>;
}

/** Asks for the name of a passkey. */
export function NameDialog({ title, action, initial = '', onClose, onName }: NameDialogProps) {
  const t = useTexts(texts);
  const form = useForm({ initial: { name: initial }, submit: ({ name }) => onName(name) });
  return (
    <Dialog open onClose={onClose} title={title}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('passkeyName')} hint={t('passkeyNameHint')} {...form.about('name')}>
          <Input required autoFocus maxLength={100} {...form.text('name')} />
        </Field>
        {form.problem !== null && (
          <Notice tone="bad">
            {form.problem instanceof Error ? form.problem.message : String(form.problem)}
          </Notice>
        )}
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {action}
        </Button>
      </form>
    </Dialog>
  );
}
