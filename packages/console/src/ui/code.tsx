import { useState } from 'react';
import { useTexts } from '../app/texts.ts';
import { Copy } from './copy.tsx';
import { Segments } from './segments.tsx';
import * as texts from './texts.ts';

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
  const t = useTexts(texts);
  const [chosen, setChosen] = useState(items[0]?.label);
  const shown = items.find(({ label }) => label === chosen) ?? items[0];
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      <Segments
        label={t('language')}
        value={shown?.label ?? ''}
        options={items.map(({ label }) => ({ value: label, label }))}
        onChange={setChosen}
      />
      <div className="w-full min-w-0">
        <Code>{shown?.code ?? ''}</Code>
      </div>
    </div>
  );
}
