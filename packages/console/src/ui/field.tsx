import { ChevronDown } from 'lucide-react';
import { type ComponentProps, createContext, type ReactNode, use, useId } from 'react';
import { useTexts } from '../app/texts.ts';
import { classes } from './class.ts';
import * as texts from './texts.ts';

interface FieldParts {
  readonly id: string;
  /** Its words, for controls whose label is hidden while they are open. */
  readonly label: string | undefined;
  readonly describedBy: string | undefined;
  readonly isWrong: boolean;
  readonly required: boolean;
}

const FieldContext = createContext<FieldParts | null>(null);

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** It says what is wrong with the value, and how to mend it. */
  readonly error?: string | null;
  readonly required?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A label, the control that it is for, and what is said about it. */
export function Field({ label, hint, error, required = false, className, children }: FieldProps) {
  const t = useTexts(texts);
  const id = useId();
  const isWrong = typeof error === 'string' && error !== '';
  const describedBy = isWrong || hint !== undefined ? `${id}-about` : undefined;
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {required && (
          <span className="ml-1 text-faint" aria-hidden title={t('required')}>
            *
          </span>
        )}
      </label>
      <FieldContext
        value={{ id, label: typeof label === 'string' ? label : undefined, describedBy, isWrong, required }}
      >
        {children}
      </FieldContext>
      {describedBy !== undefined && (
        <p
          id={describedBy}
          className={classes('text-xs', isWrong ? 'text-bad' : 'text-soft')}
          role={isWrong ? 'alert' : undefined}
        >
          {isWrong ? error : hint}
        </p>
      )}
    </div>
  );
}

/** A control spreads this to belong to the field around it. */
export function useField() {
  const field = use(FieldContext);
  return field === null
    ? {}
    : {
        id: field.id,
        'aria-describedby': field.describedBy,
        'aria-invalid': field.isWrong || undefined,
        'aria-required': field.required || undefined,
      };
}

/** The words of the label around a control. */
export function useFieldLabel(): string | undefined {
  return use(FieldContext)?.label;
}

export const controlClass =
  'w-full min-w-0 rounded-md border border-strong/70 bg-surface px-2.5 text-sm text-ink placeholder:text-faint disabled:opacity-60 aria-invalid:border-bad focus-visible:outline-offset-0';

/** One line of text. */
export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return (
    <input autoComplete="off" {...useField()} {...rest} className={classes(controlClass, 'h-8', className)} />
  );
}

/** Several lines of text. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea rows={3} {...useField()} {...rest} className={classes(controlClass, 'py-1.5', className)} />
  );
}

export interface Choosable {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly Choosable[];
}

/** One of a few, by the control of the system. For many there is `Combobox`. */
export function Select({ value, onChange, options, className, ...rest }: SelectProps) {
  return (
    <span className={classes('relative inline-flex min-w-0', className ?? 'w-full')}>
      <select
        {...useField()}
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={classes(controlClass, 'h-8 appearance-none truncate pr-7')}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        size={14}
        className="pointer-events-none absolute top-2.25 right-2 text-soft"
        aria-hidden
      />
    </span>
  );
}
