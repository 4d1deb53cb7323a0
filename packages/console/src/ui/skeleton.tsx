import { classes } from './class.ts';

/** The place of what is still to come. */
export function Skeleton({ className = 'h-4 w-full' }: { readonly className?: string }) {
  return (
    <span
      className={classes('block animate-shimmer rounded-sm bg-hover', className)}
      aria-hidden
      aria-busy="true"
    />
  );
}
