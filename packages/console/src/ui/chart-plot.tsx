import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import Plotter, { type AlignedData, type Options, type Series } from 'uplot';
import { useChoice } from '../app/choice.ts';
import { type Language, useLanguage } from '../app/language.ts';
import { useTexts } from '../app/texts.ts';
import { theme } from '../app/theme.ts';
import { shortMoneyText, shownCurrency } from './money.ts';
import { compactText, durationText, percentText } from './numbers.ts';
import * as texts from './texts.ts';

type ChartUnit = 'count' | 'ms' | 'usd' | 'percent';
type ChartTone = 'accent' | 'good' | 'warn' | 'bad' | 1 | 2 | 3 | 4 | 5 | 6;

export interface ChartSeries {
  readonly label: string;
  readonly tone?: ChartTone;
  readonly kind?: 'line' | 'area' | 'bars';
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** Says to readers of the screen what it shows. */
  readonly label: string;
  /** In seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly unit: ChartUnit;
  readonly height?: number;
}

/** Draws a chart by uPlot, in the colours of the theme, with the values under the pointer in its legend. */
export function ChartPlot({ label, times, series, unit, height = 192 }: ChartProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plotter | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const scheme = useScheme();
  const shape = JSON.stringify(series.map(({ label, tone, kind }) => [label, tone, kind]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: The plot is made anew for another form or theme; new values it is given below.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new Plotter(
      optionsOf(element, series, unit, height, language, setAt),
      dataOf(times, series),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, scheme, unit, height, language]);
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex min-h-5 flex-wrap gap-x-4 gap-y-1 text-xs text-soft">
        <span className="sr-only">{label}</span>
        {series.map(({ label: name, tone = 'accent', values }) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span
              className="h-0.5 w-3 rounded-full"
              style={{ background: `var(--color-${tone})` }}
              aria-hidden
            />
            {name}
            {at !== null && (
              <b className="font-medium text-ink">{valueText(values[at] ?? null, unit, language)}</b>
            )}
          </span>
        ))}
        {at !== null && <span className="ml-auto">{momentText(times[at] ?? 0, language)}</span>}
      </figcaption>
      <div className="relative min-w-0" style={{ height }}>
        <div ref={place} aria-hidden className="absolute inset-0 overflow-hidden" />
        {isEmpty && (
          <p className="absolute inset-0 flex items-center justify-center text-soft">{t('noData')}</p>
        )}
      </div>
    </figure>
  );
}

/** Changes when the colours do: by the choice of the theme, or by the system's. */
function useScheme(): string {
  const chosen = useChoice(theme);
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const listen = () => setDark(media.matches);
    media.addEventListener('change', listen);
    return () => media.removeEventListener('change', listen);
  }, []);
  return `${chosen} ${isDark}`;
}

function dataOf(times: readonly number[], series: readonly ChartSeries[]): AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function optionsOf(
  element: HTMLElement,
  series: readonly ChartSeries[],
  unit: ChartUnit,
  height: number,
  language: Language,
  onPoint: (at: number | null) => void,
): Options {
  const hasBars = series.some(({ kind }) => kind === 'bars');
  const ink = colourOf(element, 'faint');
  const line = colourOf(element, 'line');
  const axis = {
    stroke: ink,
    font: '11px system-ui',
    ticks: { show: false },
    grid: { stroke: line, width: 1 },
  };
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      // A bar stands on the middle of its time and must not be cut off at the edges.
      x: {
        range: ({ data }, min, max) =>
          hasBars ? [min - halfStep(data[0]), max + halfStep(data[0])] : [min, max],
      },
      y: { range: (_, min, max) => [Math.min(0, min), unit === 'percent' ? 1 : max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, values: (_, splits) => timeTicks(splits, language) },
      { ...axis, size: 52, values: (_, splits) => splits.map((value) => valueText(value, unit, language)) },
    ],
    series: [{}, ...series.map((one) => seriesOf(element, one))],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

function halfStep([first = 0, second = first]: ArrayLike<number> & Iterable<number>): number {
  return (second - first) / 2;
}

function seriesOf(element: HTMLElement, { label, tone = 'accent', kind = 'line' }: ChartSeries): Series {
  const stroke = colourOf(element, String(tone));
  const isBars = kind === 'bars';
  const bars = isBars ? Plotter.paths.bars?.({ size: [0.7, 24], radius: 0.15 }) : undefined;
  return {
    label,
    stroke,
    width: isBars ? 0 : 1.5,
    // A value with nothing on either side has no line: it is a point.
    points: isBars
      ? { show: false }
      : { show: true, size: 4, fill: stroke, filter: (plot, at) => lonely(plot.data[at]) },
    ...(kind === 'line' ? {} : { fill: isBars ? stroke : withAlpha(stroke, 0.14) }),
    ...(bars === undefined ? {} : { paths: bars }),
  };
}

/** The places of values that have none beside them. */
function lonely(values: AlignedData[number] | undefined): number[] {
  return [...(values ?? [])].flatMap((value, at, all) =>
    value != null && all[at - 1] == null && all[at + 1] == null ? [at] : [],
  );
}

/** A token as a colour that a canvas knows. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--color-${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function withAlpha(colour: string, alpha: number): string {
  return colour.endsWith(')') && !colour.includes('/') ? colour.replace(/\)$/, ` / ${alpha})`) : colour;
}

function valueText(value: number | null, unit: ChartUnit, language: Language): string {
  if (value === null) return '–';
  if (unit === 'ms') return durationText(value);
  if (unit === 'percent') return percentText(value);
  return unit === 'usd' ? shortMoneyText(value, shownCurrency.get(), language) : compactText(value, language);
}

const dayS = 86_400;

function timeTicks(splits: readonly number[], language: Language): string[] {
  const step = (splits[1] ?? 0) - (splits[0] ?? 0);
  const format = new Intl.DateTimeFormat(
    language,
    step >= dayS ? { month: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit', hour12: false },
  );
  return splits.map((seconds) => format.format(seconds * 1_000));
}

function momentText(seconds: number, language: Language): string {
  const form = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false } as const;
  return new Intl.DateTimeFormat(language, form).format(seconds * 1_000);
}
