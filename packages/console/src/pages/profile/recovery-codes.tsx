import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import * as texts from './texts.ts';

/** Recovery codes, shown this once. */
export function RecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const t = useTexts(texts);
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('codesTitle')}
      description={t('codesDetail')}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('codesKept')}
        </Button>
      }
    >
      <Code>{codes.join('\n')}</Code>
    </Dialog>
  );
}
