import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { type ButtonLook, buttonClass } from './button.tsx';
import { classes } from './class.ts';

function Anchor({ className, ...rest }: ComponentProps<'a'>) {
  return (
    <a
      {...rest}
      className={classes('rounded-sm text-accent underline-offset-2 hover:underline', className)}
    />
  );
}

function PlainAnchor(props: ComponentProps<'a'>) {
  return <a {...props} />;
}

interface ButtonAnchorProps extends ComponentProps<'a'> {
  readonly variant?: ButtonLook;
  readonly size?: 'sm' | 'md';
}

function ButtonAnchor({ variant, size, className, ...rest }: ButtonAnchorProps) {
  return <a {...rest} className={classes(buttonClass(variant, size), className)} />;
}

/** Leads to a page of the console; paths and their parameters are checked by type. */
export const Link = createLink(Anchor);

/** A link without a look of its own. */
export const PlainLink = createLink(PlainAnchor);

/** A link that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);
