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
                <Side members={before} name={name} change="removed" />
                <Side members={after} name={name} change="added" />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}

interface SideProps {
  readonly members: Readonly<Record<string, unknown>> | null;
  readonly name: string;
  readonly change: 'removed' | 'added';
}

/** One side of a change: told by its sign too, for who sees no colours. */
function Side({ members, name, change }: SideProps) {
  const value = members?.[name] ?? null;
  const Mark = change === 'removed' ? 'del' : 'ins';
  return (
    <td className="border-b border-line py-1.5 pr-3">
      {value === null ? (
        <span className="text-soft">–</span>
      ) : (
        <Mark
          className={`block rounded px-1.5 py-0.5 break-words whitespace-pre-wrap no-underline ${
            change === 'removed' ? 'bg-bad-tint text-bad' : 'bg-good-tint text-good'
          }`}
        >
          <span aria-hidden>{change === 'removed' ? '− ' : '+ '}</span>
          {typeof value === 'string' ? value : JSON.stringify(value, null, 1)}
        </Mark>
      )}
    </td>
  );
}
