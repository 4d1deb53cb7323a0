import { CircleAlert, WifiOff } from 'lucide-react';
import { Problem } from '../api/problem.ts';
import { useTexts } from '../app/texts.ts';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import * as texts from './texts.ts';

/** The place of what could not be loaded: what went wrong, and a way to try again. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const t = useTexts(texts);
  const problem = error instanceof Problem ? error : null;
  const action = onRetry && problem?.status !== 404 && <Button onClick={onRetry}>{t('retry')}</Button>;
  if (problem?.isOffline === true)
    return (
      <Empty icon={WifiOff} title={t('offlineTitle')} action={action}>
        {t('offlineDetail')}
      </Empty>
    );
  if (problem?.status === 404)
    return (
      <Empty icon={CircleAlert} title={t('missingTitle')}>
        {t('missingDetail')}
      </Empty>
    );
  return (
    <Empty
      icon={CircleAlert}
      title={problem?.status === 403 ? t('forbiddenTitle') : t('failedTitle')}
      action={action}
    >
      {problem === null ? String(error) : problem.detail || problem.title}
    </Empty>
  );
}
