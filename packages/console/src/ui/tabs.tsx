import { Tabs as TabParts } from '@base-ui/react/tabs';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface TabItem {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

/** Parts of a page of which one is shown; the address says which. */
export function Tabs({
  items,
  param = 'tab',
}: {
  readonly items: readonly TabItem[];
  readonly param?: string;
}) {
  const navigate = useNavigate();
  const asked = useSearch({ strict: false })[param];
  const first = items[0]?.id;
  const value = items.some(({ id }) => id === asked) ? asked : first;
  const choose = (id: string) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, [param]: id === first ? undefined : id }),
      replace: true,
      resetScroll: false,
    });
  return (
    <TabParts.Root value={value} onValueChange={(id) => choose(String(id))}>
      <TabParts.List className="mb-4 flex gap-4 overflow-x-auto border-b border-line scrollbar-none">
        {items.map(({ id, label }) => (
          <TabParts.Tab
            key={id}
            value={id}
            className="px-0.5 py-2 whitespace-nowrap text-soft hover:text-ink focus-visible:outline-offset-[-2px] data-[active]:font-medium data-[active]:shadow-[inset_0_-2px_0_var(--color-accent)] data-[active]:text-ink"
          >
            {label}
          </TabParts.Tab>
        ))}
      </TabParts.List>
      {items.map(({ id, content }) => (
        <TabParts.Panel key={id} value={id} className="flex min-w-0 flex-col gap-5">
          {content}
        </TabParts.Panel>
      ))}
    </TabParts.Root>
  );
}
