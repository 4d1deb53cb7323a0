import { useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import * as texts from './texts.ts';

interface LinkDialogProps {
  readonly link: string;
  readonly until: string;
  /** The person whose password it sets; an invitation if left out. */
  readonly name?: string;
  readonly onClose: () => void;
}

/** A link that works once, shown once. */
export function LinkDialog({ link, until, name, onClose }: LinkDialogProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const when = new Date(until).toLocaleString(language === 'zh' ? 'zh-CN' : 'en');
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('linkTitle')}
      description={name === undefined ? t('linkDetail', { when }) : t('resetDetail', { name, when })}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('done')}
        </Button>
      }
    >
      <Code>{link}</Code>
    </Dialog>
  );
}
