import type { Histogram } from './histogram.ts';
import type { LabelledCell } from './label-table.ts';

/** What one metric is, in the words of the text format. */
export interface MetricHead {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value with its labels. A decimal that a double cannot hold comes as text. */
export type Sample = LabelledCell<number | string>;

/** A counter or gauge in the Prometheus text format, version 0.0.4. */
export function exposeSamples(
  type: 'counter' | 'gauge',
  head: MetricHead,
  samples: Iterable<Sample>,
): string {
  let text = headLines(type, head);
  for (const { labels, cell } of samples) text += `${head.name}${labelText(head.labels, labels)} ${cell}\n`;
  return text;
}

/** Histograms in the same format: cumulative buckets, sum and count. */
export function exposeHistograms(head: MetricHead, histograms: Iterable<LabelledCell<Histogram>>): string {
  let text = headLines('histogram', head);
  const names = [...head.labels, 'le'];
  for (const { labels, cell } of histograms) {
    let count = 0;
    for (const [index, bucket] of cell.counts.entries()) {
      count += bucket;
      const bound = cell.bounds[index] ?? '+Inf';
      text += `${head.name}_bucket${labelText(names, [...labels, String(bound)])} ${count}\n`;
    }
    const own = labelText(head.labels, labels);
    text += `${head.name}_sum${own} ${cell.sum}\n${head.name}_count${own} ${count}\n`;
  }
  return text;
}

function headLines(type: string, head: MetricHead): string {
  return `# HELP ${head.name} ${head.help}\n# TYPE ${head.name} ${type}\n`;
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return '';
  return `{${names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
