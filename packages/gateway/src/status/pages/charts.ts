import type { KnownState } from '../../ports/status.ts';
import { type BoardRow, type DayBar, type Slot, slotMs } from '../board.ts';
import { type Markup, markup } from './markup.ts';
import { clockText, dayText } from './times.ts';
import { milliseconds, type PageLanguage, pageWords, percent } from './words.ts';

// Drawn in units of their own and stretched to the width that there is; all that is said in words stands beside.
const barWidth = 5;
const barGap = 2;
const barsHeight = 36;
const stubHeight = 10;
const slotWidth = 8;
const chartHeight = 96;
const errorsHeight = 24;

/** A bar for each of 90 days, by the worst of it; its words are the tooltip. */
export function barsOf(row: BoardRow, language: PageLanguage): Markup {
  const words = pageWords[language];
  const width = row.days.length * (barWidth + barGap) - barGap;
  const label = words.barsLabel(row.label, percent(row.quarter.share, words));
  const bars = row.days.map((day, at) => {
    const height = day.worst === 'unknown' ? stubHeight : barsHeight;
    return markup`<rect class="${day.worst}" x="${at * (barWidth + barGap)}" y="${barsHeight - height}" width="${barWidth}" height="${height}" rx="1"><title>${dayWords(day, language)}</title></rect>`;
  });
  return markup`<svg class="bars" viewBox="0 0 ${width} ${barsHeight}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** The words of all bars that something was measured in, newest first: a tooltip needs a mouse, a list does not. */
export function daysInWords(row: BoardRow, language: PageLanguage): Markup | null {
  const days = row.days.filter(({ share }) => share !== null).toReversed();
  if (days.length === 0) return null;
  const items = days.map((day) => markup`<li>${dayWords(day, language).replaceAll('\n', ' · ')}</li>`);
  return markup`<details><summary>${pageWords[language].eachDay}</summary><ul class="days">${items}</ul></details>`;
}

function dayWords(day: DayBar, language: PageLanguage): string {
  const words = pageWords[language];
  const date = `${dayText(day.startMs, language)} (UTC)`;
  if (day.share === null) return `${date}: ${words.nothing}`;
  const known: readonly KnownState[] = ['outage', 'partial', 'degraded'];
  const spans = known.flatMap((state) => {
    const minutes = day.minutes[state];
    return minutes === undefined || minutes === 0
      ? []
      : [words.minutesIn(words.states[state], words.duration(minutes))];
  });
  return [
    `${date}: ${words.succeeded(percent(day.share, words))}`,
    ...spans,
    ...(day.p50Ms === null
      ? []
      : [words.firstContent(milliseconds(day.p50Ms, words), milliseconds(day.p95Ms, words))]),
    ...(day.isProbed ? [words.byProbes] : []),
  ].join('\n');
}

/** The last 24 hours: two lines for the time to first content, and below them bars for the share that failed. */
export function dayChart(row: BoardRow, language: PageLanguage): Markup {
  const { slots, label } = row;
  const words = pageWords[language];
  const top = Math.max(1, ...slots.flatMap(({ p95Ms }) => p95Ms ?? [])) * 1.1;
  const width = slots.length * slotWidth;
  const height = chartHeight + errorsHeight;
  const grid = [0.25, 0.5, 0.75].map(
    (share) => markup`<path class="grid" d="M${share * width} 0V${height}"/>`,
  );
  const errors = slots.flatMap(({ share }, at) =>
    share === null || share === 1
      ? []
      : [
          markup`<path class="failed" d="M${at * slotWidth + slotWidth / 2} ${height}v-${round(Math.max(2, (1 - share) * errorsHeight))}"/>`,
        ],
  );
  const tips = slots.map(
    (slot, at) =>
      markup`<rect class="tip" x="${at * slotWidth}" y="0" width="${slotWidth}" height="${height}"><title>${slotWords(slot, language)}</title></rect>`,
  );
  return markup`<svg class="chart" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${words.chartLabel(label)}">${grid}<path class="grid" d="M0 ${chartHeight}H${width}"/><path class="p95" d="${line(slots, ({ p95Ms }) => p95Ms, top)}"/><path class="p50" d="${line(slots, ({ p50Ms }) => p50Ms, top)}"/>${errors}${tips}</svg>`;
}

/** The greatest value that a chart has room for. */
export function chartTop({ slots }: BoardRow): number | null {
  const values = slots.flatMap(({ p95Ms }) => p95Ms ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

function slotWords(slot: Slot, language: PageLanguage): string {
  const words = pageWords[language];
  const span = `${clockText(slot.startMs)}–${clockText(slot.startMs + slotMs)} UTC`;
  if (slot.share === null) return `${span}: ${words.nothing}`;
  const first =
    slot.p50Ms === null
      ? ''
      : `\n${words.firstContent(milliseconds(slot.p50Ms, words), milliseconds(slot.p95Ms, words))}`;
  return `${span}: ${words.failed(percent(1 - slot.share, words))}${first}`;
}

/** A line that breaks off where there is nothing, and is a dash where there is but one value. */
function line(slots: readonly Slot[], read: (slot: Slot) => number | null, top: number): string {
  let isDrawing = false;
  return slots
    .map((slot, at) => {
      const value = read(slot);
      if (value === null) {
        isDrawing = false;
        return '';
      }
      const y = round(chartHeight - (value / top) * chartHeight);
      const x = at * slotWidth + slotWidth / 2;
      const step = isDrawing ? `L${x} ${y}` : `M${x - 1} ${y}h1`;
      isDrawing = true;
      return step;
    })
    .join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
