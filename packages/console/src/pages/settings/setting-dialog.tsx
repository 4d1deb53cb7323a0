import type { SettingsView, SettingView } from '@headgate/gateway/console';
import { useChange } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Marked } from '../../ui/marked.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { acceptsOf, defaultOf, helpOf, mistakeOf, nameOf } from './setting-words.ts';
import { SiblingList, siblingMistake } from './sibling-list.tsx';
import * as texts from './texts.ts';

interface SettingDialogProps {
  readonly setting: SettingView;
  readonly etag: string | null;
  readonly onClose: () => void;
}

/** Makes a setting in the console, or takes it back. */
export function SettingDialog({ setting, etag, onClose }: SettingDialogProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { name, changes } = setting;
  const change = useChange<object, SettingsView>('PATCH', '/settings', {
    invalidates: ['/settings', '/session'],
  });
  const form = useForm<Record<string, string | null>, SettingsView>({
    initial: { [name]: initialText(setting) },
    submit: (values) => change.mutateAsync({ body: { [name]: values[name] ?? null }, etag }),
    onDone: () => {
      toast.success(t(changes === 'now' ? 'savedNow' : 'savedForRestart'));
      onClose();
    },
  });
  const takeBack = useForm<Record<string, string | null>, SettingsView>({
    initial: { [name]: null },
    submit: (values) => change.mutateAsync({ body: values, etag }),
    onDone: () => {
      toast.success(t(changes === 'now' ? 'takenBackNow' : 'takenBackForRestart'));
      onClose();
    },
  });
  const wrong = form.problem ?? takeBack.problem;
  const footer = (
    <>
      {isOwn(setting) && (
        <Button className="mr-auto" busy={takeBack.isBusy} onClick={() => void takeBack.submit()}>
          {t('takeBack')}
        </Button>
      )}
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button variant="primary" busy={form.isBusy} onClick={() => void form.submit()}>
        {t('save')}
      </Button>
    </>
  );
  const about = { error: form.about(name).error ?? takeBack.about(name).error };
  return (
    <>
      <Dialog
        open
        onClose={onClose}
        title={nameOf(setting)}
        description={<Marked text={helpOf(setting, language)} />}
        footer={footer}
      >
        <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
          <SettingField
            setting={setting}
            value={form.values[name] ?? ''}
            error={about.error}
            onChange={(text) => form.set(name, text)}
          />
          <p className="text-soft">{t(changes === 'now' ? 'atOnce' : 'withRestart')}</p>
          {wrong !== null && <Notice tone="bad">{wordsOf(wrong)}</Notice>}
        </form>
      </Dialog>
      <ProofFor problem={form.problem} again={form.submit} />
      <ProofFor problem={takeBack.problem} again={takeBack.submit} />
    </>
  );
}

interface SettingFieldProps {
  readonly setting: SettingView;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (text: string) => void;
}

function SettingField({ setting, value, error, onChange }: SettingFieldProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { name, options, isSecret } = setting;
  if (name === 'siblings')
    return (
      <>
        <SiblingList value={value} onChange={onChange} />
        {error !== null && <Notice tone="bad">{siblingMistake(error, t)}</Notice>}
      </>
    );
  const hint = isSecret ? t('secretHint') : acceptsOf(setting, language);
  return (
    <Field label={t('value')} error={mistakeOf(setting, error, language)} hint={hint}>
      {options === null ? (
        <Input
          name={name}
          value={value}
          type={isSecret ? 'password' : 'text'}
          autoComplete={isSecret ? 'new-password' : 'off'}
          placeholder={setting.isDefault ? defaultOf(setting.value ?? '', language) : ''}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Select
          value={value}
          onChange={onChange}
          options={options.map((option) => ({ value: option, label: option }))}
        />
      )}
    </Field>
  );
}

/** The text that the console keeps of it, or the default where that is one of few; a default in words is no text. */
function initialText({ pending, layer, value, options, name }: SettingView): string {
  if (pending?.layer === 'console') return pending.value ?? '';
  if (layer === 'console' || options !== null) return value ?? '';
  return name === 'siblings' ? '[]' : '';
}

/** True where the console has a value that can be taken back. */
function isOwn({ layer, pending }: SettingView): boolean {
  return pending === null ? layer === 'console' : pending.layer === 'console';
}
