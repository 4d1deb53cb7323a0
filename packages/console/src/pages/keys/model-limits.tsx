import { X } from 'lucide-react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Pick } from '../../ui/pick.tsx';
import { type ModelLimit, noRates } from './key-form.ts';
import { rateNames } from './limit-names.ts';
import * as texts from './texts.ts';

interface ModelLimitsProps {
  readonly rows: readonly ModelLimit[];
  readonly onChange: (rows: readonly ModelLimit[]) => void;
  readonly models: readonly string[];
  readonly error: string | null;
}

/** Further limits on calls of single models; each call also counts to those of all. */
export function ModelLimits({ rows, onChange, models, error }: ModelLimitsProps) {
  const t = useTexts(texts);
  const shown = rows.filter(({ isGone }) => !isGone);
  const change = (model: string, changes: Partial<ModelLimit>) =>
    onChange(rows.map((row) => (row.model === model ? { ...row, ...changes } : row)));
  const add = (model: string) => {
    if (rows.some((row) => row.model === model)) change(model, { isGone: false });
    else if (model !== '') onChange([...rows, { model, rates: noRates, isGone: false }]);
  };
  const left = models.filter((model) => !shown.some((row) => row.model === model));
  return (
    <div className="flex flex-col gap-3">
      {shown.map((row) => (
        <LimitsOfModel
          key={row.model}
          row={row}
          onChange={(rates) => change(row.model, { rates })}
          onRemove={() => change(row.model, { rates: noRates, isGone: true })}
        />
      ))}
      <Field label={t('limitModel')} hint={t('limitModelHint')} error={error}>
        <Pick
          value=""
          onChange={add}
          none={t('chooseModel')}
          options={left.map((value) => ({ value, label: value }))}
        />
      </Field>
    </div>
  );
}

interface LimitsOfModelProps {
  readonly row: ModelLimit;
  readonly onChange: (rates: ModelLimit['rates']) => void;
  readonly onRemove: () => void;
}

function LimitsOfModel({ row: { model, rates }, onChange, onRemove }: LimitsOfModelProps) {
  const t = useTexts(texts);
  return (
    <fieldset className="rounded-md border border-line p-3">
      <legend className="flex max-w-full items-center gap-1 px-1 text-sm font-medium">
        <bdi className="min-w-0 break-words">{model}</bdi>
        <Button
          variant="ghost"
          size="sm"
          icon={X}
          aria-label={t('removeLimits', { model })}
          onClick={onRemove}
        />
      </legend>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
        {rateNames.map((name) => (
          <Field key={name} label={t(`rate.${name}`)}>
            <Input
              value={rates[name]}
              onChange={(event) => onChange({ ...rates, [name]: event.target.value })}
              inputMode="numeric"
              placeholder={t('noLimit')}
            />
          </Field>
        ))}
      </div>
    </fieldset>
  );
}
