import type { TrialView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { Count } from '../../ui/figures.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import * as texts from './texts.ts';
import { linesOf } from './written.ts';

type Discovered = TrialView['models'][number];

/** Public names by the names that the upstream has. */
export type ChosenModels = Readonly<Record<string, string>>;

interface DiscoveredModelsProps {
  readonly models: readonly Discovered[];
  readonly chosen: ChosenModels;
  readonly onChange: (chosen: ChosenModels) => void;
  /** Models that no list has, a line each. */
  readonly more: string;
  readonly onMore: (more: string) => void;
}

/** The choice of which models a channel serves, and under which names. */
export function DiscoveredModels({ models, chosen, onChange, more, onMore }: DiscoveredModelsProps) {
  const t = useTexts(texts);
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const shown = models.filter(({ upstream, name }) =>
    `${upstream} ${name ?? ''}`.toLowerCase().includes(words),
  );
  const toggle = ({ upstream, id }: Discovered, isChosen: boolean) => {
    const { [upstream]: _, ...others } = chosen;
    onChange(isChosen ? { ...others, [upstream]: id } : others);
  };
  const all = () =>
    onChange({ ...chosen, ...Object.fromEntries(shown.map(({ upstream, id }) => [upstream, id])) });
  return (
    <div className="flex flex-col gap-3">
      {models.length > 0 && (
        <>
          <div className="flex flex-wrap items-center gap-2">
            <Input
              type="search"
              className="max-w-64"
              aria-label={t('serve.search')}
              placeholder={t('serve.search')}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            <Button onClick={all}>{t('serve.all')}</Button>
            <span className="text-sm text-soft">
              {t('serve.count', { count: Object.keys(chosen).length })}
            </span>
          </div>
          <ul
            className="max-h-96 overflow-y-auto rounded-lg border border-line bg-surface"
            aria-label={t('serve')}
          >
            {shown.map((model) => (
              <ModelLine
                key={model.upstream}
                model={model}
                publicName={chosen[model.upstream]}
                onToggle={toggle}
                onName={(name) => onChange({ ...chosen, [model.upstream]: name })}
              />
            ))}
          </ul>
        </>
      )}
      <Field label={t('serve.more')}>
        <TextArea
          value={more}
          onChange={(event) => onMore(event.target.value)}
          rows={models.length === 0 ? 4 : 2}
          className="font-mono"
        />
      </Field>
    </div>
  );
}

interface ModelLineProps {
  readonly model: Discovered;
  readonly publicName: string | undefined;
  readonly onToggle: (model: Discovered, isChosen: boolean) => void;
  readonly onName: (name: string) => void;
}

function ModelLine({ model, publicName, onToggle, onName }: ModelLineProps) {
  const t = useTexts(texts);
  const { upstream, contextWindow, price, cost, isServed, outputModalities } = model;
  const pair = price ?? cost;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line px-3 py-1.5 not-last:border-b">
      <div className="min-w-48 flex-1">
        <Checkbox
          checked={publicName !== undefined}
          onChange={(is) => onToggle(model, is)}
          label={<bdi className="break-all">{upstream}</bdi>}
        />
      </div>
      <span className="flex flex-wrap items-center gap-2 text-xs text-soft tabular-nums">
        {isServed && <Badge tone="good">{t('served')}</Badge>}
        {outputModalities.some((modality) => modality !== 'text') && (
          <Badge>{outputModalities.join(', ')}</Badge>
        )}
        {contextWindow !== null && (
          <span title={t('context')}>
            <Count value={contextWindow} compact />
          </span>
        )}
        {pair === null ? (
          <Badge tone="warn">{t('unpriced')}</Badge>
        ) : (
          <span title={t('price')}>{`$${pair.input} / $${pair.output}`}</span>
        )}
      </span>
      {publicName !== undefined && (
        <Input
          className="w-full sm:w-56"
          aria-label={`${t('public')}: ${upstream}`}
          value={publicName}
          onChange={(event) => onName(event.target.value)}
        />
      )}
    </li>
  );
}

/** The models of a channel as the API takes them. */
export function modelsOf(chosen: ChosenModels, more: string): Readonly<Record<string, object>> {
  const listed = Object.entries(chosen).map(([upstream, id]) => [id.trim(), upstream] as const);
  const typed = linesOf(more).map((line) => {
    const [id = '', upstream = id] = line.split('=').map((part) => part.trim());
    return [id, upstream] as const;
  });
  return Object.fromEntries(
    [...listed, ...typed].map(([id, upstream]) => [id, id === upstream ? {} : { upstream }]),
  );
}
