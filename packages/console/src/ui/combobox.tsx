import { lazy, Suspense } from 'react';
import { type Choosable, Input } from './field.tsx';

export interface ComboboxProps {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly options: readonly Choosable[];
  readonly placeholder?: string | undefined;
  /** Its name, where no field around it says so. */
  readonly 'aria-label'?: string | undefined;
}

export interface MultiComboboxProps {
  readonly values: readonly string[];
  readonly onChange: (values: string[]) => void;
  readonly options: readonly Choosable[];
  readonly placeholder?: string;
}

const load = () => import('./combobox-parts.tsx');
const ComboboxControl = lazy(async () => ({ default: (await load()).ComboboxControl }));
const MultiComboboxControl = lazy(async () => ({ default: (await load()).MultiComboboxControl }));

/** One of many, found by typing. It is fetched with the first one. */
export function Combobox(props: ComboboxProps) {
  const chosen = props.options.find(({ value }) => value === props.value);
  return (
    <Suspense
      fallback={<Input readOnly aria-busy aria-label={props['aria-label']} value={chosen?.label ?? ''} />}
    >
      <ComboboxControl {...props} />
    </Suspense>
  );
}

/** Some of many, each shown as a chip that can be taken away. */
export function MultiCombobox(props: MultiComboboxProps) {
  return (
    <Suspense fallback={<Input readOnly aria-busy value={props.values.join(', ')} />}>
      <MultiComboboxControl {...props} />
    </Suspense>
  );
}
