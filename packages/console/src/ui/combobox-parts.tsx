import { Combobox as ComboboxParts } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown, X } from 'lucide-react';
import { useTexts } from '../app/texts.ts';
import { classes } from './class.ts';
import type { ComboboxProps, MultiComboboxProps } from './combobox.tsx';
import { type Choosable, controlClass, useField, useFieldLabel } from './field.tsx';
import { popupClass } from './popup.ts';
import * as texts from './texts.ts';

/** Nobody reads on for longer: who does not find it there types more. */
const shownMax = 100;

/** One of many, found by typing. */
export function ComboboxControl({ value, onChange, options, placeholder, ...rest }: ComboboxProps) {
  const label = useFieldLabel();
  const field = { ...useField(), 'aria-label': rest['aria-label'] ?? label };
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <ComboboxParts.Root
      items={options}
      limit={shownMax}
      value={chosen}
      onValueChange={(option) => onChange(option?.value ?? null)}
    >
      <div className="relative">
        <ComboboxParts.Input
          {...field}
          placeholder={placeholder}
          className={classes(controlClass, 'h-8 pr-8')}
        />
        <ComboboxParts.Trigger
          tabIndex={-1}
          aria-hidden
          className="absolute inset-y-0 right-0 px-2 text-soft"
        >
          <ChevronsUpDown size={14} />
        </ComboboxParts.Trigger>
      </div>
      <Choices />
    </ComboboxParts.Root>
  );
}

/** Some of many, each shown as a chip that can be taken away. */
export function MultiComboboxControl({ values, onChange, options, placeholder }: MultiComboboxProps) {
  const t = useTexts(texts);
  const field = { ...useField(), 'aria-label': useFieldLabel() };
  const chosen = values.map(
    (value) => options.find((option) => option.value === value) ?? { value, label: value },
  );
  return (
    <ComboboxParts.Root
      multiple
      items={options}
      limit={shownMax}
      value={chosen}
      onValueChange={(found) => onChange(found.map((option) => option.value))}
      isItemEqualToValue={(one, other) => one.value === other.value}
    >
      <ComboboxParts.Chips
        className={classes(
          controlClass,
          'flex min-h-8 flex-wrap items-center gap-1 px-1 py-0.5 focus-within:outline-2 focus-within:outline-accent',
        )}
      >
        {chosen.map(({ value, label }) => (
          <ComboboxParts.Chip
            key={value}
            className="inline-flex items-center gap-0.5 rounded-sm bg-hover pl-1.5 text-xs leading-5"
          >
            {label}
            <ComboboxParts.ChipRemove
              aria-label={t('remove', { label })}
              className="p-1 text-soft hover:text-ink"
            >
              <X size={11} aria-hidden />
            </ComboboxParts.ChipRemove>
          </ComboboxParts.Chip>
        ))}
        <ComboboxParts.Input
          {...field}
          placeholder={chosen.length === 0 ? placeholder : ''}
          className="min-w-8 flex-1 bg-transparent px-1.5 text-sm outline-none placeholder:text-faint"
        />
      </ComboboxParts.Chips>
      <Choices />
    </ComboboxParts.Root>
  );
}

function Choices() {
  const t = useTexts(texts);
  return (
    <ComboboxParts.Portal>
      <ComboboxParts.Positioner sideOffset={4} className="z-50">
        <ComboboxParts.Popup className={classes(popupClass, 'w-(--anchor-width) min-w-48')}>
          <ComboboxParts.Empty className="px-2 py-1.5 text-soft empty:hidden">
            {t('nothingFound')}
          </ComboboxParts.Empty>
          <ComboboxParts.List>
            {(option: Choosable) => (
              <ComboboxParts.Item
                key={option.value}
                value={option}
                className="flex cursor-pointer items-center gap-2 rounded-sm px-2 py-1 outline-none select-none data-[highlighted]:bg-hover"
              >
                <span className="min-w-0 flex-1 truncate">{option.label}</span>
                <ComboboxParts.ItemIndicator>
                  <Check size={14} className="text-accent" aria-hidden />
                </ComboboxParts.ItemIndicator>
              </ComboboxParts.Item>
            )}
          </ComboboxParts.List>
        </ComboboxParts.Popup>
      </ComboboxParts.Positioner>
    </ComboboxParts.Portal>
  );
}
