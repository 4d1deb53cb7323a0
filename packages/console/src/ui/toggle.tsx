import { type ReactNode, useId } from 'react';
import { classes } from './class.ts';

interface ToggleProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly disabled?: boolean;
}

/** Yes or no, said when the form is sent. */
export function Checkbox(props: ToggleProps) {
  return <Toggle {...props} className="mt-0.5 size-4 shrink-0 rounded-sm accent-fill" />;
}

/** On or off, at once. */
export function Switch(props: ToggleProps) {
  return (
    <Toggle
      {...props}
      role="switch"
      className={classes(
        'relative mt-0.5 h-4 w-7 shrink-0 appearance-none rounded-full bg-strong transition-colors checked:bg-fill',
        'after:absolute after:top-0.5 after:left-0.5 after:size-3 after:rounded-full after:bg-on-fill after:transition-transform checked:after:translate-x-3',
      )}
    />
  );
}

function Toggle({
  checked,
  onChange,
  label,
  hint,
  disabled,
  role,
  className,
}: ToggleProps & { readonly role?: 'switch'; readonly className: string }) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        role={role}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-about`}
        onChange={(event) => onChange(event.target.checked)}
        className={classes(className, 'disabled:opacity-50')}
      />
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-about`} className="text-xs text-soft">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
