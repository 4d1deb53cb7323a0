import { Plus, Trash2 } from 'lucide-react';
import { useTexts } from '../../app/texts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import * as texts from './price-texts.ts';

const tokenParts = [
  ...(['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'reasoning'] as const),
  ...(['cacheReadAudio', 'audioInput', 'audioOutput', 'imageInput', 'imageOutput', 'citation'] as const),
] as const;
const fees = [
  ...(['perImage', 'perCall', 'perWebSearch', 'perFileSearch', 'perCodeSession'] as const),
  ...(['perGrounding', 'perPage'] as const),
] as const;
const parts = [...tokenParts, ...fees];
type Part = (typeof parts)[number];
/** Parts that are always there to be filled in. */
const usual: readonly Part[] = ['input', 'output', 'cacheRead', 'cacheWrite5m'];

/** A price as the configuration file writes it: parts, and `tiers` by the size of the input. */
export type WrittenParts = Readonly<Record<string, unknown>>;

interface PriceFieldsProps {
  readonly value: WrittenParts;
  readonly onChange: (value: WrittenParts) => void;
}

/** A price by its parts, and by the tokens of input from which others hold. */
export function PriceFields({ value, onChange }: PriceFieldsProps) {
  const t = useTexts(texts);
  const tiers = Array.isArray(value['tiers']) ? (value['tiers'] as WrittenParts[]) : [];
  const setTiers = (next: readonly WrittenParts[]) => onChange({ ...value, tiers: next });
  return (
    <div className="flex flex-col gap-3">
      <Parts value={value} onChange={onChange} />
      {tiers.map((tier, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: A tier is nothing but its place in the list.
        <div key={at} className="flex flex-col gap-3 rounded-md border border-line p-3">
          <div className="flex items-end gap-2">
            <Field label={t('above')} className="flex-1">
              <Input
                inputMode="numeric"
                value={textOf(tier['aboveInputTokens'])}
                onChange={({ target }) =>
                  setTiers(
                    tiers.map((each, place) =>
                      place === at ? { ...each, aboveInputTokens: numberOf(target.value) } : each,
                    ),
                  )
                }
              />
            </Field>
            <IconButton
              icon={Trash2}
              label={t('removeTier')}
              onClick={() => setTiers(tiers.filter((_, place) => place !== at))}
            />
          </div>
          <Parts
            value={tier}
            onChange={(next) => setTiers(tiers.map((each, place) => (place === at ? next : each)))}
          />
        </div>
      ))}
      <div>
        <Button
          icon={Plus}
          onClick={() => setTiers([...tiers, { aboveInputTokens: 200_000, input: '', output: '' }])}
        >
          {t('addTier')}
        </Button>
      </div>
    </div>
  );
}

function Parts({ value, onChange }: PriceFieldsProps) {
  const t = useTexts(texts);
  const shown = parts.filter((part) => usual.includes(part) || part in value);
  const others = parts.filter((part) => !shown.includes(part));
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {shown.map((part) => (
        <Field key={part} label={t(`part.${part}`)}>
          <Input
            inputMode="decimal"
            value={textOf(value[part])}
            onChange={({ target }) => onChange({ ...value, [part]: target.value.trim() })}
          />
        </Field>
      ))}
      <Field label={t('addPart')}>
        <Select
          value=""
          onChange={(part) => part !== '' && onChange({ ...value, [part]: '' })}
          options={[
            { value: '', label: '–' },
            ...others.map((part) => ({ value: part, label: t(`part.${part}`) })),
          ]}
        />
      </Field>
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Text that is no number goes as it is: the API says why it is wrong. */
function numberOf(text: string): number | string {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : text;
}
