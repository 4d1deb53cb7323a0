import { csvCell } from '../ports/csv.ts';
import type { UsageEntry } from '../ports/usage-report.ts';
import { entryView } from './usage-views.ts';

/** The members that a call has in JSON; each part of its usage is a column. */
const titles = [
  ...['trace_id', 'started_at', 'finished_at', 'surface', 'model', 'model_served', 'stream', 'status'],
  ...[
    'billed',
    'unbilled_reason',
    'charge',
    'charge_nano_usd',
    'usage_source',
    'input_tokens',
    'output_tokens',
  ],
  ...['input_fresh_tokens', 'input_cache_read_tokens', 'input_cache_write_5m_tokens'],
  ...['input_cache_write_1h_tokens', 'input_audio_tokens', 'input_image_tokens', 'output_reasoning_tokens'],
  ...['output_audio_tokens', 'output_image_tokens', 'images', 'input_cache_read_audio_tokens'],
  ...['citation_tokens', 'web_searches', 'file_searches', 'code_sessions', 'groundings', 'pages'],
  ...['http_status', 'error_code', 'finish_reason', 'losses', 'attempts', 'time_to_first_content_ms'],
  ...['duration_ms', 'client_request_id', 'tag'],
];

/** A line of titles and a line for each call (RFC 4180). Cells are safe to open in a spreadsheet, whatever callers wrote into them. */
export function usageCsv(entries: readonly UsageEntry[]): string {
  const lines = entries.map((entry) => {
    const { usage, ...members } = entryView(entry);
    const cells: Readonly<Record<string, unknown>> = {
      ...members,
      ...usage,
      losses: entry.losses.join(' '),
      charge_nano_usd: entry.chargeNanoUsd,
    };
    return titles.map((title) => csvCell(textOf(cells[title])));
  });
  return [titles, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
