const width = 72;
const height = 18;

/** The course of a number, small and without scales. The number beside it says what it is, so it is hidden from readers of the screen. */
export function Spark({ values }: { readonly values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  const max = Math.max(...known, 0);
  if (known.length < 2) return null;
  const step = width / (values.length - 1);
  const points = values.flatMap((value, place) =>
    value === null
      ? []
      : [
          `${(place * step).toFixed(1)},${(height - 1 - (max === 0 ? 0 : value / max) * (height - 2)).toFixed(1)}`,
        ],
  );
  return (
    <svg width={width} height={height} aria-hidden className="shrink-0 text-accent">
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
    </svg>
  );
}
