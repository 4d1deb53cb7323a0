import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { useTexts } from '../app/texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field, Input } from './field.tsx';
import { Notice } from './notice.tsx';
import * as texts from './texts.ts';

interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Names the thing: "Revoke key 'Build server'?" */
  readonly title: string;
  readonly description: ReactNode;
  readonly confirmLabel: string;
  /** This has to be typed first, for what cannot be undone. */
  readonly name?: string;
  readonly danger?: boolean;
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before something is done that cannot easily be taken back. It stays open until it is done. */
export function Confirm({
  open,
  onClose,
  title,
  description,
  confirmLabel,
  name,
  danger = true,
  onConfirm,
}: ConfirmProps) {
  const t = useTexts(texts);
  const form = useId();
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!open) return;
    setTyped('');
    setFailure(null);
  }, [open]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button
        type="submit"
        form={form}
        variant={danger ? 'danger' : 'primary'}
        busy={isBusy}
        disabled={name !== undefined && typed !== name}
      >
        {confirmLabel}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={onClose} title={title} description={description} footer={footer}>
      <form id={form} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {name !== undefined && (
          <Field label={t('typeToConfirm', { name })}>
            <Input value={typed} onChange={(event) => setTyped(event.target.value)} />
          </Field>
        )}
        {failure !== null && <Notice tone="bad">{failure}</Notice>}
      </form>
    </Dialog>
  );
}
