import type { AuditView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import * as texts from './texts.ts';

/** The members that a change made other than they were. */
export function ChangeDialog({ row, onClose }: { readonly row: AuditView; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const { action, target, before, after, address } = row;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <Dialog
      open
      onClose={onClose}
      size="lg"
      title={`${action} · ${target.name ?? target.id}`}
      description={address === null ? undefined : t('from', { address })}
    >
      {names.length === 0 ? (
        <p className="text-soft">{t('noDetail')}</p>
      ) : (
        <table className="w-full table-fixed border-separate border-spacing-0">
          <thead>
            <tr className="text-left text-xs text-soft">
              <th className="w-1/4 border-b border-line py-1.5 pr-3 font-medium">{t('member')}</th>
              <th className="border-b border-line py-1.5 pr-3 font-medium">{t('before')}</th>
              <th className="border-b border-line py-1.5 font-medium">{t('after')}</th>
            </tr>
          </thead>
          <tbody className="align-top font-mono text-xs">
            {names.map((name) => (
              <tr key={name}>
                <th
                  scope="row"
                  className="border-b border-line py-1.5 pr-3 text-left font-normal break-words"
                >
                  {name}
                </th>
                <td className="border-b border-line py-1.5 pr-3 break-words">{valueText(before, name)}</td>
                <td className="border-b border-line py-1.5 break-words">{valueText(after, name)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}

function valueText(members: Readonly<Record<string, unknown>> | null, name: string): string {
  const value = members?.[name];
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
