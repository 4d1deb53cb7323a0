import type { PresetPage, PresetView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Input } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './texts.ts';

interface PresetPickerProps {
  readonly onPick: (preset: PresetView) => void;
  /** False where the focus belongs elsewhere when the page comes. */
  readonly takesFocus?: boolean;
}

const unchangingMs = 3_600_000;

/** Every provider that a channel can be made of, to be found by its name. */
export function PresetPicker({ onPick, takesFocus = true }: PresetPickerProps) {
  const t = useTexts(texts);
  const presets = useGet<PresetPage>('/channel-presets', {}, { staleMs: unchangingMs });
  const [search, setSearch] = useState('');
  if (presets.error) return <ErrorState error={presets.error} onRetry={() => void presets.refetch()} />;
  if (presets.data === undefined) return <Skeleton className="h-96 w-full" />;
  const words = search.trim().toLowerCase();
  const fitting = presets.data.items.filter(({ id, name, baseUrl }) =>
    `${id} ${name} ${baseUrl}`.toLowerCase().includes(words),
  );
  const label = t('pick.search', { count: presets.data.items.length });
  return (
    <div className="flex flex-col gap-3">
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        value={search}
        autoFocus={takesFocus}
        onChange={(event) => setSearch(event.target.value)}
      />
      {fitting.length === 0 && <p className="text-sm text-soft">{t('pick.none')}</p>}
      <ul className="grid max-h-[60vh] grid-cols-1 gap-2 overflow-y-auto p-0.5 sm:grid-cols-2 lg:grid-cols-3">
        {fitting.map((preset) => (
          <li key={preset.id}>
            <button
              type="button"
              onClick={() => onPick(preset)}
              className="flex w-full min-w-0 flex-col items-start gap-0.5 rounded-md border border-line bg-surface px-3 py-2 text-left hover:bg-hover"
            >
              <span className="flex w-full items-center gap-2 text-sm font-medium">
                <span className="truncate">{preset.name}</span>
                {preset.simulated && <Badge tone="accent">{t('simulated')}</Badge>}
              </span>
              <span className="w-full truncate text-xs text-soft">
                {preset.baseUrl.replace(/^https?:\/\//, '')}
              </span>
              <span className="w-full truncate text-xs text-faint">{preset.protocols.join(' · ')}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
