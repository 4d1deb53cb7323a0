import { Combobox } from './combobox.tsx';
import { type Choosable, Select } from './field.tsx';

/** More than these are no longer overseen: then it is typed which one is meant. */
const overseen = 40;

interface PickProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly Choosable[];
  /** Stands for no choice, where there may be none. */
  readonly none?: string;
  /** Its name, where no field around it says so. */
  readonly 'aria-label'?: string;
  readonly className?: string;
}

/** One of few that are all shown, or of many that are searched. */
export function Pick({ value, onChange, options, none, className, ...rest }: PickProps) {
  if (options.length <= overseen)
    return (
      <Select
        {...rest}
        value={value}
        onChange={onChange}
        options={none === undefined ? options : [{ value: '', label: none }, ...options]}
        className={className}
      />
    );
  return (
    <div className={className ?? 'w-full'}>
      <Combobox
        {...rest}
        value={value === '' ? null : value}
        onChange={(chosen) => onChange(chosen ?? '')}
        options={options}
        placeholder={none}
      />
    </div>
  );
}
