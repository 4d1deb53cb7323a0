import type { ReactNode } from 'react';
import { classes } from './class.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

const badgeTones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-hover text-soft',
  good: 'bg-good-tint text-good',
  warn: 'bg-warn-tint text-warn',
  bad: 'bg-bad-tint text-bad',
  accent: 'bg-tint text-accent',
};

const dotTones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-strong',
  good: 'bg-good-fill',
  warn: 'bg-warn-fill',
  bad: 'bg-bad',
  accent: 'bg-accent',
};

/** A word about something, in the colour of what it means. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 rounded-sm px-1.5 text-xs leading-5 font-medium whitespace-nowrap',
        badgeTones[tone],
      )}
    >
      {children}
    </span>
  );
}

/** The state of something: a dot and the word, since colour alone tells some people nothing. */
export function StateDot({ state, label }: { readonly state: Tone; readonly label: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span className={classes('size-2 shrink-0 rounded-full', dotTones[state])} aria-hidden />
      {label}
    </span>
  );
}
