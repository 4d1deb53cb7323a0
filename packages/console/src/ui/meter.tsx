import { classes } from './class.ts';

/** How much of something is used up; it says so in colour when it nears the end. */
export function Meter({
  value,
  max,
  label,
}: {
  readonly value: number;
  readonly max: number;
  readonly label: string;
}) {
  const share = max <= 0 ? 1 : Math.min(1, Math.max(0, value / max));
  return (
    // biome-ignore lint/a11y/useSemanticElements: The element of that name has colours that no style reaches in every browser.
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="h-1.5 w-full min-w-12 overflow-hidden rounded-full bg-line"
    >
      <div
        className={classes(
          'h-full rounded-full',
          share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn-fill' : 'bg-accent',
        )}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
