import type { OverviewView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Count, Money, Percent } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import * as texts from './texts.ts';

type Top = OverviewView['topModels'][number];

/** The models, keys and channels that were called most. */
export function Tops({ overview: { topModels, topKeys, topChannels } }: { readonly overview: OverviewView }) {
  const t = useTexts(texts);
  return (
    <div className="grid gap-x-4 gap-y-5 lg:grid-cols-2 xl:grid-cols-[repeat(auto-fit,minmax(22rem,1fr))]">
      <TopList title={t('topModels')} rows={topModels} />
      <TopList title={t('topKeys')} rows={topKeys} />
      {topChannels !== undefined && <TopList title={t('topChannels')} rows={topChannels} />}
    </div>
  );
}

const headClass = 'h-8 border-b border-line px-3 text-right text-xs font-medium text-soft';
const cellClass = 'px-3 py-1.5 text-right';

/** Eight rows at the most: none of what `Table` is for. */
function TopList({ title, rows }: { readonly title: string; readonly rows: readonly Top[] }) {
  const t = useTexts(texts);
  const most = Math.max(...rows.map(({ calls }) => calls), 1);
  return (
    <Section title={title} plain>
      <div className="@container rounded-lg border border-line bg-surface">
        {rows.length === 0 ? (
          <p className="px-4 py-6 text-center text-soft">{t('nothingCalled')}</p>
        ) : (
          <table aria-label={title} className="w-full table-fixed">
            <thead>
              <tr>
                <th scope="col" className={`${headClass} text-left`}>
                  {t('name')}
                </th>
                <th scope="col" className={`${headClass} w-19`}>
                  {t('calls')}
                </th>
                <th scope="col" className={`${headClass} hidden w-21 @min-[26rem]:table-cell`}>
                  {t('success')}
                </th>
                <th scope="col" className={`${headClass} w-24`}>
                  {t('spend')}
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map((row) => (
                <tr key={row.id}>
                  <td className="px-3 py-1.5">
                    <Named row={row} share={row.calls / most} />
                  </td>
                  <td className={cellClass}>
                    <Count value={row.calls} compact />
                  </td>
                  <td className={`${cellClass} hidden @min-[26rem]:table-cell`}>
                    <Percent value={row.successShare} />
                  </td>
                  <td className={cellClass}>
                    <Money usd={row.charge} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Section>
  );
}

/** The name, with a line as long as its share of the one that was called most. */
function Named({ row, share }: { readonly row: Top; readonly share: number }) {
  return (
    <>
      <span className="block truncate" title={row.id}>
        {row.name === '' ? row.id : row.name}
      </span>
      <span
        className="mt-0.5 block h-0.5 rounded-full bg-accent/50"
        style={{ width: `${Math.max(1, share * 100)}%` }}
        aria-hidden
      />
    </>
  );
}
