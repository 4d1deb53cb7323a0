import { ChevronDown, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { PriceFields } from '../models/price-fields.tsx';
import * as texts from './model-rows-texts.ts';
import { emptyRow, isPlain, type ModelRow, needs } from './written-models.ts';

interface ModelRowsProps {
  readonly rows: readonly ModelRow[];
  readonly onChange: (rows: readonly ModelRow[]) => void;
  /** Errors by the path of a member below `models`. */
  readonly error: string | null;
}

/** The models of a channel: how each is called here and there, and what is particular to it on this channel. */
export function ModelRows({ rows, onChange, error }: ModelRowsProps) {
  const t = useTexts(texts);
  const [open, setOpen] = useState<number | null>(null);
  const change = (at: number, members: Partial<ModelRow>) =>
    onChange(rows.map((row, each) => (each === at ? { ...row, ...members } : row)));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t('title')}</legend>
      {rows.map((row, at) => (
        <div key={row.key} className="flex flex-col gap-3 rounded-md border border-line p-2">
          <div className="flex flex-wrap items-center gap-2">
            <Input
              className="min-w-40 flex-1"
              aria-label={t('public')}
              placeholder={t('public')}
              value={row.id}
              onChange={({ target }) => change(at, { id: target.value })}
            />
            <Input
              className="min-w-40 flex-1"
              aria-label={t('upstream', { id: row.id })}
              placeholder={row.id === '' ? t('upstreamHint') : row.id}
              value={row.upstream}
              onChange={({ target }) => change(at, { upstream: target.value })}
            />
            <IconButton
              icon={ChevronDown}
              label={t('more', { id: row.id })}
              aria-expanded={open === at}
              onClick={() => setOpen(open === at ? null : at)}
            />
            <IconButton
              icon={Trash2}
              label={t('remove', { id: row.id })}
              onClick={() => onChange(rows.filter((_, each) => each !== at))}
            />
          </div>
          {open === at && <Particulars row={row} onChange={(members) => change(at, members)} />}
        </div>
      ))}
      {error !== null && (
        <p role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
      <div>
        <Button icon={Plus} onClick={() => onChange([...rows, emptyRow()])}>
          {t('add')}
        </Button>
      </div>
    </fieldset>
  );
}

interface ParticularsProps {
  readonly row: ModelRow;
  readonly onChange: (members: Partial<ModelRow>) => void;
}

function Particulars({ row, onChange }: ParticularsProps) {
  const t = useTexts(texts);
  const { lacks, cost } = row;
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-3">
      <Field label={t('context')} hint={t('contextHint')}>
        <Input
          inputMode="numeric"
          value={row.contextWindow}
          onChange={({ target }) => onChange({ contextWindow: target.value })}
        />
      </Field>
      <fieldset className="grid gap-1.5 sm:grid-cols-2">
        <legend className="mb-1 text-sm font-medium">{t('lacks')}</legend>
        {needs.map((need) => (
          <Checkbox
            key={need}
            checked={lacks.includes(need)}
            onChange={(is) =>
              onChange({ lacks: is ? [...lacks, need] : lacks.filter((each) => each !== need) })
            }
            label={t(`need.${need}`)}
          />
        ))}
      </fieldset>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">{t('cost')}</legend>
        <p className="text-xs text-soft">{t('costHint')}</p>
        {isPlain(cost) ? (
          <PriceFields value={cost} onChange={(next) => onChange({ cost: next })} />
        ) : (
          <p className="text-sm text-soft">{t('costElsewhere')}</p>
        )}
      </fieldset>
    </div>
  );
}
