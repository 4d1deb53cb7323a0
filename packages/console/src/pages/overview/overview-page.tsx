import { useTexts } from '../../app/texts.ts';
import { Page } from '../../ui/page.tsx';
import * as texts from './texts.ts';

/** The page that says how it goes, what it costs, and what needs attention. */
export function OverviewPage() {
  const t = useTexts(texts);
  return <Page title={t('title')}>{null}</Page>;
}
