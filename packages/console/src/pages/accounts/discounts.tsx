import type { OwnerView } from '@headgate/gateway/console';
import { Plus, X } from 'lucide-react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import * as texts from './texts.ts';

export type DiscountView = NonNullable<NonNullable<OwnerView['account']>['discount']>;

/** One discount as it is typed; without models it holds for all that no one before it names. */
export interface DiscountRow {
  /** Tells rows apart while they are typed. */
  readonly n: number;
  readonly percent: string;
  readonly models: readonly string[];
}

/** Discounts as the form shows them. */
export function discountRows(discount: DiscountView | null): readonly DiscountRow[] {
  if (discount === null) return [];
  const entries = Array.isArray(discount) ? discount : [{ percent: discount, models: undefined }];
  return entries.map(({ percent, models = [] }, n) => ({ n, percent: String(percent), models }));
}

/** The member of a change: null where nothing is left. */
export function discountPatch(rows: readonly DiscountRow[]): object | string | null {
  const typed = rows.filter(({ percent, models }) => percent.trim() !== '' || models.length > 0);
  const [first] = typed;
  if (first === undefined) return null;
  if (typed.length === 1 && first.models.length === 0) return first.percent.trim();
  return typed.map(({ percent, models }) => ({
    percent: percent.trim(),
    ...(models.length === 0 ? {} : { models }),
  }));
}

interface DiscountsProps {
  readonly rows: readonly DiscountRow[];
  readonly onChange: (rows: readonly DiscountRow[]) => void;
  readonly models: readonly string[];
  readonly error: string | null;
}

/** An account pays this much less than its groups do, for all models or for some. */
export function Discounts({ rows, onChange, models, error }: DiscountsProps) {
  const t = useTexts(texts);
  const change = (n: number, changes: Partial<DiscountRow>) =>
    onChange(rows.map((row) => (row.n === n ? { ...row, ...changes } : row)));
  const next = Math.max(0, ...rows.map(({ n }) => n + 1));
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-sm font-medium">{t('discounts')}</legend>
      {rows.map(({ n, percent, models: chosen }) => (
        <div key={n} className="flex items-start gap-3">
          <Field label={t('discount')} className="w-28 shrink-0">
            <Input
              value={percent}
              onChange={(event) => change(n, { percent: event.target.value })}
              inputMode="decimal"
              placeholder="12.5"
            />
          </Field>
          <Field label={t('discountModels')} className="grow">
            <MultiCombobox
              values={chosen}
              onChange={(values) => change(n, { models: values })}
              options={models.map((value) => ({ value, label: value }))}
              placeholder={t('discountOthers')}
            />
          </Field>
          <Button
            variant="ghost"
            icon={X}
            className="mt-6"
            aria-label={t('removeDiscount')}
            onClick={() => onChange(rows.filter((row) => row.n !== n))}
          />
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-3">
        <Button icon={Plus} onClick={() => onChange([...rows, { n: next, percent: '', models: [] }])}>
          {t('addDiscount')}
        </Button>
        <p
          className={error === null ? 'text-xs text-soft' : 'text-xs text-bad'}
          role={error === null ? undefined : 'alert'}
        >
          {error ?? t('discountHint')}
        </p>
      </div>
    </fieldset>
  );
}
