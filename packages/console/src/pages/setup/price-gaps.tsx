import type { ChangesView } from '@headgate/gateway/console';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Input } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import * as texts from './texts.ts';

interface PriceGapsProps {
  readonly models: readonly string[];
  /** Hears the models that have a price now. */
  readonly onDone: (priced: readonly string[]) => void;
}

type Typed = Readonly<Record<string, { readonly input: string; readonly output: string }>>;

/** Models whose price nobody knows are hidden from callers: here it is said, or put off. */
export function PriceGaps({ models, onDone }: PriceGapsProps) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState<Typed>({});
  const set = useChange<object, ChangesView>('POST', '/prices', {
    invalidates: ['/models', '/price', '/keys/choices'],
  });
  const prices = Object.fromEntries(
    Object.entries(typed).filter(([, { input, output }]) => input.trim() !== '' && output.trim() !== ''),
  );
  const priced = Object.keys(prices);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await set.mutateAsync({ body: { prices } });
      onDone(priced);
    } catch {
      // The mutation keeps the problem, which is shown below.
    }
  };
  return (
    <form onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
      <Notice tone="warn" title={t('pricesTitle')}>
        {t('pricesDetail')}
      </Notice>
      <ul className="flex flex-col gap-3">
        {models.map((model) => (
          <li key={model} className="flex flex-wrap items-center gap-2">
            <bdi className="min-w-40 flex-1 font-mono break-all">{model}</bdi>
            {(['input', 'output'] as const).map((side) => (
              <Input
                key={side}
                className="w-32"
                inputMode="decimal"
                aria-label={t(`price.${side}Of`, { model })}
                placeholder={t(`price.${side}`)}
                value={typed[model]?.[side] ?? ''}
                onChange={(event) =>
                  setTyped((before) => ({
                    ...before,
                    [model]: { ...{ input: '', output: '' }, ...before[model], [side]: event.target.value },
                  }))
                }
              />
            ))}
          </li>
        ))}
      </ul>
      {set.error !== null && <Notice tone="bad">{wordsOf(set.error)}</Notice>}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" busy={set.isPending} disabled={priced.length === 0}>
          {t('setPrices')}
        </Button>
        <Button variant="ghost" onClick={() => onDone([])}>
          {t('pricesLater')}
        </Button>
      </div>
    </form>
  );
}
