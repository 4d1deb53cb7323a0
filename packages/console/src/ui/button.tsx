import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classes } from './class.ts';

export type ButtonLook = 'primary' | 'secondary' | 'ghost' | 'danger';

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: ButtonLook;
  readonly size?: 'sm' | 'md';
  /** The thing that it started is under way: it cannot be pressed again. */
  readonly busy?: boolean;
  readonly icon?: LucideIcon;
}

const looks: Readonly<Record<ButtonLook, string>> = {
  primary: 'bg-fill text-on-fill enabled:hover:bg-fill-hover shadow-xs',
  secondary: 'bg-raised text-ink border border-line enabled:hover:bg-hover shadow-xs',
  ghost: 'text-soft enabled:hover:bg-hover enabled:hover:text-ink',
  danger: 'bg-bad-fill text-on-fill enabled:hover:brightness-90 shadow-xs',
};

export function buttonClass(variant: ButtonLook = 'secondary', size: 'sm' | 'md' = 'md'): string {
  return classes(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors disabled:opacity-50',
    size === 'sm' ? 'h-7 px-2 text-sm' : 'h-8 px-3 text-sm',
    looks[variant],
  );
}

/** Does something when pressed. One of a page is `primary`. */
export function Button({
  variant,
  size,
  busy = false,
  icon: Icon,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={busy || rest.disabled}
      className={classes(buttonClass(variant, size), className)}
    >
      {busy ? (
        <LoaderCircle size={14} className="animate-spin" aria-hidden />
      ) : (
        Icon && <Icon size={14} aria-hidden />
      )}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon: LucideIcon;
  /** Says what it does, to who cannot see the picture and as its tip. */
  readonly label: string;
}

/** A button that is a picture alone. */
export function IconButton({ icon: Icon, label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={classes(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-md text-soft transition-colors enabled:hover:bg-hover enabled:hover:text-ink disabled:opacity-50',
        className,
      )}
    >
      <Icon size={15} aria-hidden />
    </button>
  );
}
