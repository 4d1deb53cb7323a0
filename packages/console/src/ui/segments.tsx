import { classes } from './class.ts';
import type { Choosable } from './field.tsx';

interface SegmentsProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Choosable[];
  readonly onChange: (value: string) => void;
}

/** One of a few, all in sight. */
export function Segments({ label, value, options, onChange }: SegmentsProps) {
  return (
    <fieldset className="flex max-w-full min-w-0 overflow-x-auto rounded-md border border-line bg-sunken p-0.5 scrollbar-none">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={classes(
            'h-6.5 rounded-sm px-2.5 whitespace-nowrap transition-colors',
            option.value === value ? 'bg-raised font-medium text-ink shadow-xs' : 'text-soft hover:text-ink',
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
