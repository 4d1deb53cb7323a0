import pino from 'pino';
import { type LogSink, type LogSinkOptions, openLogSink } from './log-sink.ts';
import { escapeHiddenControls, logTextLengthMax } from './log-text.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Everything a log line may carry. A field that is not named here is not written, whatever is passed. */
export interface LogFields {
  readonly traceId?: string;
  readonly accountId?: string;
  readonly keyId?: string;
  readonly groupId?: string;
  readonly channelId?: string;
  readonly model?: string;
  readonly revision?: number;
  readonly alert?: string;
  readonly file?: string;
  readonly origin?: string;
  readonly count?: number;
  readonly durationMs?: number;
  readonly reason?: string;
  /** Facts about an alert, named by whoever raised it. Never bodies, headers or credentials. */
  readonly detail?: Readonly<Record<string, string | number>>;
  /** What was thrown; its type, message and stack are written. */
  readonly error?: unknown;
}

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LoggerOptions extends LogSinkOptions {
  readonly level: LogLevel;
}

/** The process's log. `sink` takes lines that are made elsewhere, and outlives no call of `flush`. */
export interface Log {
  readonly logger: Logger;
  readonly sink: LogSink;
}

const plainFields = [
  'traceId',
  'accountId',
  'keyId',
  'groupId',
  'channelId',
  'model',
  'revision',
  'alert',
  'file',
  'origin',
  'count',
  'durationMs',
  'reason',
] as const satisfies readonly (keyof LogFields)[];

const stackLengthMax = 4000;

export function openLog(options: LoggerOptions): Log {
  const sink = openLogSink(options);
  const lines = pino(
    { base: null, level: options.level },
    { write: (line: string) => sink.write(escapeHiddenControls(line)) },
  );
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (!lines.isLevelEnabled(level)) return;
    lines[level](fields === undefined ? {} : allowedFields(fields), bounded(message, stackLengthMax));
  };
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { logger, sink };
}

function allowedFields(fields: LogFields): Record<string, unknown> {
  const allowed: Record<string, unknown> = {};
  for (const name of plainFields) {
    const value = fields[name];
    if (value !== undefined) allowed[name] = boundedValue(value);
  }
  if (fields.detail !== undefined) allowed['detail'] = boundedDetail(fields.detail);
  if (fields.error !== undefined) allowed['error'] = describeError(fields.error);
  return allowed;
}

function boundedDetail(detail: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, boundedValue(value)]));
}

function boundedValue(value: string | number): string | number {
  return typeof value === 'string' ? bounded(value, logTextLengthMax) : value;
}

function describeError(error: unknown): Record<string, string> {
  if (!(error instanceof Error)) return { message: bounded(String(error), logTextLengthMax) };
  return {
    type: error.name,
    message: bounded(error.message, logTextLengthMax),
    stack: bounded(error.stack ?? '', stackLengthMax),
  };
}

function bounded(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
