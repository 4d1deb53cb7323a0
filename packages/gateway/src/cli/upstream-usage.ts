import { fail, type Result, succeed } from '@headgate/protocols';
import { type NanoUsd, readNanoUsd } from '../money/money.ts';
import { readTime } from './command.ts';

/** The fields that a file of an upstream's usage may have, and the titles that are known for each, in small letters with `_`. */
export const usageFields = {
  request_id: ['request_id', 'upstream_request_id', 'x_request_id', 'id', 'generation_id', 'response_id'],
  time: [
    ...['time', 'timestamp', 'created_at', 'created', 'started_at', 'start_time', 'start_time_iso'],
    ...['date', 'day', 'usage_date', 'usage_date_utc'],
  ],
  model: ['model', 'model_name', 'model_id', 'upstream_model', 'model_version', 'snapshot_id'],
  requests: ['requests', 'request_count', 'num_requests', 'num_model_requests', 'n_requests', 'calls'],
  input_tokens: ['input_tokens', 'prompt_tokens', 'tokens_prompt', 'n_context_tokens_total'],
  uncached_input_tokens: ['uncached_input_tokens', 'usage_input_tokens_no_cache'],
  cache_read_tokens: ['cache_read_tokens', 'cache_read_input_tokens', 'usage_input_tokens_cache_read'],
  cache_write_tokens: [
    ...['cache_write_tokens', 'cache_creation_input_tokens', 'usage_input_tokens_cache_write_5m'],
  ],
  cache_write_1h_tokens: ['cache_write_1h_tokens', 'usage_input_tokens_cache_write_1h'],
  output_tokens: [
    ...[
      'output_tokens',
      'completion_tokens',
      'tokens_completion',
      'usage_output_tokens',
      'n_generated_tokens_total',
    ],
  ],
  cost_usd: [
    'cost_usd',
    'cost',
    'amount_usd',
    'amount',
    'amount_value',
    'total_cost',
    'cost_in_usd',
    'price_usd',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type UsageField = keyof typeof usageFields;

const fieldNames = Object.keys(usageFields) as readonly UsageField[];

/** The places of the fields in the lines of one file. */
export type Layout = ReadonlyMap<UsageField, number>;

/** Usage as one line of the file has it; null for what the file says nothing of. */
export interface UsageLine {
  readonly requestId: string | null;
  readonly atMs: number | null;
  /** False where the time is a day. */
  readonly isMoment: boolean;
  readonly model: string | null;
  readonly requests: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costNanoUsd: NanoUsd | null;
}

/** `field=title` pairs, separated by commas: titles of one's own in the place of the known ones. */
export function readMapping(text: string): Result<ReadonlyMap<UsageField, string>, string> {
  const mapping = new Map<UsageField, string>();
  for (const pair of text.split(',')) {
    const [given = '', ...title] = pair.split('=');
    const field = fieldNames.find((name) => name === given.trim());
    if (field === undefined || title.length === 0)
      return fail(
        `--columns must be pairs such as cost_usd=Amount with one of ${fieldNames.join(', ')}; "${pair}" is none`,
      );
    if (mapping.has(field)) return fail(`--columns names ${field} twice`);
    mapping.set(field, title.join('=').trim());
  }
  return succeed(mapping);
}

/** Finds the fields among the titles of a file; the error says which are missing. */
export function readLayout(
  titles: readonly string[],
  mapping: ReadonlyMap<UsageField, string>,
): Result<Layout, string> {
  const plain = titles.map((title) => title.trim());
  const known = plain.map((title) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'));
  const layout = new Map<UsageField, number>();
  for (const field of fieldNames) {
    const own = mapping.get(field);
    const place =
      own === undefined
        ? usageFields[field].map((title) => known.indexOf(title)).find((at) => at !== -1)
        : plain.indexOf(own);
    if (own !== undefined && place === -1)
      return fail(`there is no column "${own}"; there are ${plain.join(', ')}`);
    if (place !== undefined) layout.set(field, place);
  }
  const has = (...fields: readonly UsageField[]) => fields.some((field) => layout.has(field));
  const missing = [
    ...(has('request_id') || (has('time') && has('model')) ? [] : ['request_id, or time and model']),
    ...(has('input_tokens', 'uncached_input_tokens', 'output_tokens', 'cost_usd')
      ? []
      : ['input_tokens, output_tokens or cost_usd']),
  ];
  if (missing.length === 0) return succeed(layout);
  return fail(
    `no column is known as ${missing.join(', nor as ')}; say which it is with --columns, such as --columns "cost_usd=${plain.at(-1)}"; there are ${plain.join(', ')}`,
  );
}

/** Reads a line; the error names the field. */
export function readUsageLine(cells: readonly string[], layout: Layout): Result<UsageLine, string> {
  const problems: string[] = [];
  const text = (field: UsageField): string | null => {
    const place = layout.get(field);
    const cell = place === undefined ? '' : (cells[place] ?? '').trim();
    return cell === '' ? null : cell;
  };
  const read = <Value>(field: UsageField, what: string, reader: (cell: string) => Value | null) => {
    const cell = text(field);
    if (cell === null) return null;
    const value = reader(cell);
    if (value === null) problems.push(`${field} must be ${what}, not "${cell.slice(0, 60)}"`);
    return value;
  };
  const count = (field: UsageField) => read(field, 'a whole number', readCount);
  const at = read('time', 'a date or a time, such as 2026-11-21 or 2026-11-21T08:00Z', readMoment);
  const input = count('input_tokens');
  const others = (
    ['uncached_input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'] as const
  ).map(count);
  const line: UsageLine = {
    requestId: text('request_id'),
    atMs: at?.atMs ?? null,
    isMoment: at?.isMoment ?? false,
    model: text('model'),
    requests: count('requests') ?? 1,
    // Input is told with its cached part, or in parts that are told apart.
    inputTokens: layout.has('uncached_input_tokens') ? sumOf(others) : input,
    outputTokens: count('output_tokens'),
    costNanoUsd: read('cost_usd', 'an amount in dollars such as 0.0123', readAmount),
  };
  if (line.requestId === null && (line.atMs === null || line.model === null) && problems.length === 0)
    problems.push('it says neither its request nor its time and model');
  return problems.length === 0 ? succeed(line) : fail(problems.join('; '));
}

function sumOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

function readCount(cell: string): number | null {
  return /^\d{1,15}(\.0+)?$/.test(cell) ? Number(cell) : null;
}

/** To the nearest nano-dollar: upstreams reckon in smaller pieces. */
function readAmount(cell: string): NanoUsd | null {
  return cell.length > 40 ? null : readNanoUsd(cell.replace(/^\$/, ''));
}

/** A day, a time in any of the usual spellings, or seconds or milliseconds since the epoch; in UTC unless it says otherwise. */
function readMoment(cell: string): { readonly atMs: number; readonly isMoment: boolean } | null {
  if (/^\d{10}$/.test(cell)) return { atMs: Number(cell) * 1000, isMoment: true };
  if (/^\d{13}$/.test(cell)) return { atMs: Number(cell), isMoment: true };
  const iso = cell.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T').replace(/ ?(?:UTC|\+0000)$/, 'Z');
  const atMs = readTime(iso);
  return atMs === null ? null : { atMs, isMoment: iso.length > 'YYYY-MM-DD'.length };
}
