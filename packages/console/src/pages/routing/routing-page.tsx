import { useTexts } from '../../app/texts.ts';
import { Page } from '../../ui/page.tsx';
import { DryRun } from './dry-run.tsx';
import { Replay } from './replay.tsx';
import * as texts from './texts.ts';

/** The route that a call would take now, and those that calls have taken. */
export function RoutingPage() {
  const t = useTexts(texts);
  return (
    <Page title={t('title')} description={t('description')}>
      <DryRun />
      <Replay />
    </Page>
  );
}
