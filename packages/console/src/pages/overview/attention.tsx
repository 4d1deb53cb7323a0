import type { OverviewView } from '@headgate/gateway/console';
import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import * as texts from './texts.ts';

type AttentionItem = OverviewView['attention'][number];

const looks = {
  error: [CircleAlert, 'text-bad'],
  warning: [TriangleAlert, 'text-warn'],
  info: [Info, 'text-accent'],
} as const;

/** The things that somebody should do something about; nothing at all when there are none. */
export function Attention({ items }: { readonly items: readonly AttentionItem[] }) {
  const t = useTexts(texts);
  if (items.length === 0) return null;
  return (
    <Section title={t('attention')} plain>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {items.map((item) => {
          const [Icon, tone] = looks[item.severity];
          return (
            <li key={item.kind} className="flex items-center gap-2.5 px-4 py-2">
              <Icon size={15} className={`shrink-0 ${tone}`} aria-hidden />
              <span className="min-w-0 flex-1">
                <span className="font-medium">{nameOf(item.kind, t)}</span>
                <span className="ml-2 break-words text-soft">{item.subject}</span>
                {item.count > 1 && (
                  <span className="ml-2 text-soft">{t('and', { count: item.count - 1 })}</span>
                )}
              </span>
              <span className="shrink-0 text-xs text-soft">
                <Time iso={item.since} />
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** A kind that is newer than this page is told by its own name. */
function nameOf(kind: string, t: Translate<typeof texts.en>): string {
  const name = `attention.${kind}`;
  return name in texts.en ? t(name as `attention.${'bug'}`) : kind;
}
