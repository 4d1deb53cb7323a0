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

/** UTF-16 units; as many of the system's calls as there are batches. */
const batchLength = 32_768;
const batchAgeMsMax = 100;
/** Past this, lines are dropped: a stuck terminal or disk must not take the process with it. */
const queuedBytesMax = 8 * 1024 * 1024;

export function openLogSink(options: LogSinkOptions): LogSink {
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
