import { useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { classes } from './class.ts';

interface TabItem {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

/** Parts of a page of which one is shown; the address says which. Arrows go from one to the next. */
export function Tabs({
  items,
  param = 'tab',
}: {
  readonly items: readonly TabItem[];
  readonly param?: string;
}) {
  const navigate = useNavigate();
  const own = useId();
  const asked = useSearch({ strict: false })[param];
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === asked),
  );
  const choose = (next: number) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, [param]: next === 0 ? undefined : items[next]?.id }),
      replace: true,
      resetScroll: false,
    });
  const onKey = (event: KeyboardEvent<HTMLButtonElement>) => {
    const step = stepOf(event.key, at);
    if (step === null) return;
    event.preventDefault();
    const next = (step + items.length) % items.length;
    choose(next);
    event.currentTarget.parentElement?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div>
      <div role="tablist" className="mb-4 flex gap-4 overflow-x-auto border-b border-line scrollbar-none">
        {items.map(({ id, label }, place) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${own}-${id}`}
            aria-selected={place === at}
            aria-controls={`${own}-panel`}
            tabIndex={place === at ? 0 : -1}
            onClick={() => choose(place)}
            onKeyDown={onKey}
            className={classes(
              'px-0.5 py-2 whitespace-nowrap focus-visible:outline-offset-[-2px]',
              place === at
                ? 'font-medium text-ink shadow-[inset_0_-2px_0_var(--color-accent)]'
                : 'text-soft hover:text-ink',
            )}
          >
            {label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${own}-panel`}
        aria-labelledby={`${own}-${items[at]?.id}`}
        className="flex min-w-0 flex-col gap-5"
      >
        {items[at]?.content}
      </div>
    </div>
  );
}

/** The place that a key goes to, from behind the end for -1; null for a key that goes nowhere. */
function stepOf(key: string, at: number): number | null {
  if (key === 'ArrowRight') return at + 1;
  if (key === 'ArrowLeft') return at - 1;
  if (key === 'Home') return 0;
  return key === 'End' ? -1 : null;
}
