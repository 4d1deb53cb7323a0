import { useNavigate, useSearch } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { useTexts } from '../app/texts.ts';
import { Button } from './button.tsx';
import { classes } from './class.ts';
import { type Choosable, controlClass } from './field.tsx';
import { Pick } from './pick.tsx';
import * as texts from './texts.ts';

/** A filter of a list, by the name of its parameter in the address. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly kind: 'select' | 'text';
  /** For `select`; all of them stand beneath "All". */
  readonly options?: readonly Choosable[];
  /** Names the choice that holds where nothing is chosen: everything, if left out. */
  readonly usual?: string;
}

export type FilterValues = Readonly<Record<string, string | undefined>>;

/** The values of these parameters of the address, and a way to change them: so a view can be shared. */
export function useFilters(
  names: readonly string[],
): readonly [FilterValues, (changes: FilterValues) => void] {
  const search: FilterValues = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (changes: FilterValues) =>
      void navigate({
        to: '.',
        search: (before) => ({ ...before, ...changes }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const values = Object.fromEntries(names.flatMap((name) => (search[name] ? [[name, search[name]]] : [])));
  return [values, change];
}

/** The filters of a list in a row. Text is taken over when the typing pauses. */
export function FilterBar({ filters }: { readonly filters: readonly Filter[] }) {
  const t = useTexts(texts);
  const [values, change] = useFilters(filters.map(({ name }) => name));
  const isAny = Object.keys(values).length > 0;
  return (
    <search className="flex flex-wrap items-center gap-2">
      {filters.map((filter) =>
        filter.kind === 'select' ? (
          <Pick
            key={filter.name}
            aria-label={filter.label}
            value={values[filter.name] ?? ''}
            onChange={(value) => change({ [filter.name]: value || undefined })}
            none={filter.usual ?? `${filter.label}: ${t('all')}`}
            options={filter.options ?? []}
            className={classes(
              'max-w-48',
              values[filter.name] && '[&>select]:border-accent [&>select]:text-accent',
            )}
          />
        ) : (
          <TextFilter key={filter.name} filter={filter} value={values[filter.name] ?? ''} onChange={change} />
        ),
      )}
      {isAny && (
        <Button
          variant="ghost"
          icon={X}
          onClick={() => change(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          {t('clearFilters')}
        </Button>
      )}
    </search>
  );
}

const pauseMs = 300;

interface TextFilterProps {
  readonly filter: Filter;
  readonly value: string;
  readonly onChange: (changes: FilterValues) => void;
}

function TextFilter({ filter: { name, label }, value, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange({ [name]: typed.trim() || undefined }), pauseMs);
    return () => clearTimeout(timer);
  }, [typed, value, name, onChange]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className={classes(controlClass, 'h-8 max-w-40 sm:max-w-44')}
    />
  );
}
