import { Tabs as TabParts } from '@base-ui/react/tabs';
import { Copy } from './copy.tsx';

/** Text for a machine, with a button that copies it. */
export function Code({ children }: { readonly children: string }) {
  return (
    <div className="group relative min-w-0 rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: What scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0} className="overflow-x-auto py-2.5 pr-11 pl-3 font-mono text-xs leading-5">
        {children}
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-sunken">
        <Copy text={children} />
      </div>
    </div>
  );
}

export interface CodeSample {
  readonly label: string;
  readonly code: string;
}

/** The same in several languages. */
export function CodeTabs({ items }: { readonly items: readonly CodeSample[] }) {
  return (
    <TabParts.Root defaultValue={items[0]?.label}>
      <TabParts.List className="mb-2 flex flex-wrap gap-1">
        {items.map(({ label }) => (
          <TabParts.Tab
            key={label}
            value={label}
            className="rounded-md px-2 py-1 text-soft hover:bg-hover data-[active]:bg-tint data-[active]:text-accent"
          >
            {label}
          </TabParts.Tab>
        ))}
      </TabParts.List>
      {items.map(({ label, code }) => (
        <TabParts.Panel key={label} value={label}>
          <Code>{code}</Code>
        </TabParts.Panel>
      ))}
    </TabParts.Root>
  );
}
