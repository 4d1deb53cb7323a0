import { beginningOf } from '@headgate/protocols';
import pino from 'pino';

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
  /** The value that was thrown; its type, message and stack are written. */
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
  /** From now on lines that are less severe are not written. */
  setLevel(level: LogLevel): void;
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
  const setLevel = (level: LogLevel): void => {
    lines.level = level;
  };
  return { logger, sink, setLevel };
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
  return text.length > lengthMax ? `${beginningOf(text, lengthMax)}…` : text;
}

export interface LogSinkOptions {
  /** 1 and 2 are standard output and error; a string is a file to append to. */
  readonly destination: 1 | 2 | string;
  /** `json` for machines, one object a line; `pretty` for a person at a terminal. */
  readonly format: 'json' | 'pretty';
}

/** The place that finished lines go to: redacted, in batches, off the caller's path. */
export interface LogSink {
  /** Takes one JSON line, its line feed included. */
  write(line: string): void;
  /** Replaces the secrets that must never appear; called at start and whenever configuration changes. */
  setSecrets(secrets: Iterable<string>): void;
  /** Takes them out of a text that goes elsewhere. */
  redact: Redact;
  /** Resolves when everything written so far has left the process. */
  flush(): Promise<void>;
}

/** UTF-16 units; as many of the system's calls as there are batches. */
const batchLength = 32_768;
const batchAgeMsMax = 100;
/** Past this, lines are dropped: a stuck terminal or disk must not take the process with it. */
const queuedBytesMax = 8 * 1024 * 1024;

function openLogSink(options: LogSinkOptions): LogSink {
  const destination = pino.destination({
    dest: options.destination,
    sync: false,
    mkdir: true,
    // With 0, its default, the library's flush would wait for nothing.
    minLength: 1,
    maxLength: queuedBytesMax,
  });
  // A log that cannot be written loses lines; it must not end calls. Without a listener it would end the process.
  destination.on('error', () => {});
  const batch = new LineBatch((lines) => destination.write(lines));
  let redact = createRedaction([]);
  return {
    write(line) {
      const redacted = redact(line);
      if (options.format === 'pretty') destination.write(prettyLogLine(redacted));
      else batch.add(redacted);
    },
    setSecrets(secrets) {
      redact = createRedaction(secrets);
    },
    redact: (text) => redact(text),
    flush() {
      batch.send();
      // The error is that of fsync, which pipes and terminals do not have.
      return new Promise((resolve) => {
        destination.flush(() => resolve());
      });
    },
  };
}

/**
 * Gathers lines into batches. The library would do it too, but measures what it has gathered again with every line,
 * which flattened a growing string each time: 7 KB of copies for every call.
 */
class LineBatch {
  readonly #send: (lines: string) => void;
  #lines = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (lines: string) => void) {
    this.#send = send;
  }

  add(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= batchLength) this.send();
    else this.#timer ??= setTimeout(() => this.send(), batchAgeMsMax);
  }

  send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#lines === '') return;
    this.#send(this.#lines);
    this.#lines = '';
  }
}

/** Longest text of others that one field of a log line keeps, in UTF-16 units. */
const logTextLengthMax = 300;

const plainPattern = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

// JSON leaves these alone, but terminals and log viewers act on them: DEL, C1 controls (which contain an escape
// introducer and a line break) and the two Unicode line separators.
const hiddenControlPattern = /[\u007f-\u009f\u2028\u2029]/g;

/** A JSON string literal of a bounded text, on one line whatever the text holds. */
export function quoteLogText(text: string, lengthMax = logTextLengthMax): string {
  const bounded = text.length > lengthMax ? `${beginningOf(text, lengthMax)}…` : text;
  if (plainPattern.test(bounded)) return `"${bounded}"`;
  return escapeHiddenControls(JSON.stringify(bounded.toWellFormed()));
}

/** Spells out, as JSON escapes, the control characters that JSON itself lets through. */
function escapeHiddenControls(json: string): string {
  return json.replace(hiddenControlPattern, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const levelWords: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info ', 40: 'WARN ', 50: 'ERROR' };

/** A JSON log line as a person reads it: `12:00:01.250 WARN  message name=value name=value`. */
function prettyLogLine(line: string): string {
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

/** Replaces live secrets in a text. */
export type Redact = (text: string) => string;

/** A shorter value would blot out ordinary words, and guards nothing. */
const secretLengthMin = 8;

// Keys of our own are known by their hash alone, so they are recognised by their form.
const ownKeyPattern = 'sk-[0-9A-Za-z]{49}';

/** `secrets` are the values themselves; they are found as such and as they are spelled inside JSON. */
function createRedaction(secrets: Iterable<string>): Redact {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < secretLengthMin) continue;
    spellings.add(secret);
    spellings.add(JSON.stringify(secret).slice(1, -1));
  }
  // The longest first, so that a secret which begins with another one is replaced whole.
  const literals = [...spellings].sort((a, b) => b.length - a.length).map(escapePattern);
  const pattern = new RegExp([...literals, ownKeyPattern].join('|'), 'g');
  return (text) => text.replace(pattern, '[redacted]');
}

function escapePattern(literal: string): string {
  return literal.replace(/[^0-9A-Za-z]/g, '\\$&');
}
