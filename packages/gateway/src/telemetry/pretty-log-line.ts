import { escapeHiddenControls } from './log-text.ts';

const levelWords: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info ', 40: 'WARN ', 50: 'ERROR' };

/** A JSON log line as a person reads it: `12:00:01.250 WARN  message name=value name=value`. */
export function prettyLogLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== 'object' || parsed === null) return line;
  const { level, time, msg, ...fields } = { level: 0, time: 0, msg: '', ...parsed };
  const clock = new Date(time).toISOString().slice(11, 23);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${prettyValue(value)}`);
  return `${[clock, levelWords[level] ?? String(level), prettyText(msg), ...pairs].join(' ')}\n`;
}

function prettyValue(value: unknown): string {
  if (typeof value !== 'string') return escapeHiddenControls(JSON.stringify(value));
  return /^[\w.:/@+-]+$/.test(value) ? value : escapeHiddenControls(JSON.stringify(value));
}

/** The message stands without quotes, so what would act on a terminal is spelled out. */
function prettyText(text: string): string {
  return escapeHiddenControls(JSON.stringify(text)).slice(1, -1).replaceAll('\\"', '"');
}
