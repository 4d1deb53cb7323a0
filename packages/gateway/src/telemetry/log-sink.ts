import pino from 'pino';
import { prettyLogLine } from './pretty-log-line.ts';
import { createRedaction } from './redaction.ts';

export interface LogSinkOptions {
  /** 1 and 2 are standard output and error; a string is a file to append to. */
  readonly destination: 1 | 2 | string;
  /** `json` for machines, one object a line; `pretty` for a person at a terminal. */
  readonly format: 'json' | 'pretty';
}

/** Where finished lines go: redacted, in batches, off the caller's path. */
export interface LogSink {
  /** Takes one JSON line, its line feed included. */
  write(line: string): void;
  /** Replaces the secrets that must never appear; called at start and whenever configuration changes. */
  setSecrets(secrets: Iterable<string>): void;
  /** Resolves when everything written so far has left the process. */
  flush(): Promise<void>;
}

const batchBytes = 12_288;
const batchAgeMsMax = 100;
/** Past this, lines are dropped: a stuck terminal or disk must not take the process with it. */
const queuedBytesMax = 8 * 1024 * 1024;

export function openLogSink(options: LogSinkOptions): LogSink {
  const destination = pino.destination({
    dest: options.destination,
    sync: false,
    mkdir: true,
    minLength: options.format === 'pretty' ? 1 : batchBytes,
    // The library wants room for one line more than a batch.
    maxWrite: 2 * batchBytes,
    periodicFlush: batchAgeMsMax,
    maxLength: queuedBytesMax,
  });
  // A log that cannot be written loses lines; it must not end calls. Without a listener it would end the process.
  destination.on('error', () => {});
  let redact = createRedaction([]);
  return {
    write(line) {
      const redacted = redact(line);
      destination.write(options.format === 'pretty' ? prettyLogLine(redacted) : redacted);
    },
    setSecrets(secrets) {
      redact = createRedaction(secrets);
    },
    flush() {
      // The error is that of fsync, which pipes and terminals do not have.
      return new Promise((resolve) => {
        destination.flush(() => resolve());
      });
    },
  };
}
