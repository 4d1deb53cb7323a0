import type { Result } from '@headgate/protocols';
import type { Environment } from '../config.ts';

/** An option of one command, beside the settings and `--json` and `--help`, which every command takes. */
export interface CommandOption {
  /** Stands for the value in help; null for a switch. */
  readonly placeholder: string | null;
  readonly help: string;
}

export interface Command {
  /** Words after `headgate`: `keys create`. */
  readonly name: string;
  /** Positional arguments as help shows them: `ID`, `[ID…]`. */
  readonly usage: string;
  readonly positionals: { readonly min: number; readonly max: number };
  readonly summary: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Whole command lines, as help shows them. */
  readonly examples: readonly string[];
  /** True when help lists every setting, and not only the one that says where the data is. */
  readonly showsSettings: boolean;
  run(context: CommandContext): Promise<ExitReason>;
}

/** The surroundings that a command runs in. */
export interface CommandContext {
  readonly positionals: readonly string[];
  /** Values of the command's own options; a switch that is on is `true`. */
  readonly options: Readonly<Record<string, string>>;
  /** Flags that are settings, by name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Environment;
  /** The working directory. */
  readonly directory: string;
  readonly output: Output;
  /** Reads a secret from standard input; a person at a terminal is asked for it, and does not see it. */
  readonly readSecret: () => Promise<Result<string, string>>;
  /** Aborts when the process is asked to stop. The system ends a command that never asks, at once and whatever it does. */
  readonly stopping: () => AbortSignal;
}

/** A command with the usual answers for what it leaves out. */
export function command(parts: Pick<Command, 'name' | 'summary' | 'run'> & Partial<Command>): Command {
  return {
    usage: '',
    positionals: { min: 0, max: 0 },
    options: {},
    examples: [],
    showsSettings: false,
    ...parts,
  };
}

/** The codes that the process gives to the shell that started it; documented in the help of `headgate`. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done' },
  failed: {
    code: 1,
    meaning: 'the command ran and what it checks is not in order, or what it was to do failed',
  },
  usage: { code: 2, meaning: 'the command was not written correctly' },
  configuration: { code: 3, meaning: 'settings or configuration are not valid' },
  unavailable: { code: 4, meaning: 'the store, a port or a file cannot be used' },
} as const;

export type ExitReason = keyof typeof exitCodes;

/** The one line that a command that threw says, and how it ends. */
export interface ThrownFailure {
  readonly reason: ExitReason;
  readonly message: string;
}

/** Tells what the machine refused, which its owner can mend, from a mistake of ours. */
export function thrownFailure(error: unknown): ThrownFailure {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return isRefusalOfMachine(error)
    ? { reason: 'unavailable', message }
    : { reason: 'failed', message: `internal: ${message}` };
}

/** Errors of the operating system carry its number in `errno`; those of the store have a code of their own. */
function isRefusalOfMachine(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return 'errno' in error || error.code === 'ERR_SQLITE_ERROR';
}

/** The streams that a command writes to. Results go to standard output, everything else to standard error. */
export interface Output {
  /** True when results are JSON for programs. */
  readonly json: boolean;
  /** True when standard output shows colour. */
  readonly color: boolean;
  /** Characters in a line of the terminal; left out where there is none. */
  readonly columns?: number | undefined;
  write(text: string): void;
  writeError(text: string): void;
}

/** Prints a result: the value for programs, or the text for people. */
export function printResult(output: Output, value: unknown, text: string): void {
  output.write(output.json ? `${jsonText(value)}\n` : `${peopleText(text)}\n`);
}

/** The colours of our own texts, or something else that acts on a terminal. */
const actsOnTerminal =
  /\p{Cc}\[(?:1|2|22|3[0-39]|4[39])(?:;(?:3[0-39]|4[39]))*m|\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu;

/** Callers and upstreams may have written parts of a text: what would act on a terminal is spelled out. */
export function peopleText(text: string): string {
  return text.replace(actsOnTerminal, (found) =>
    found === '\n' || (found.length > 1 && found.startsWith('\u001b'))
      ? found
      : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}${found.slice(1)}`,
  );
}

/** Prints why a command ends early. */
export function printFailure(output: Output, messages: readonly string[]): void {
  if (output.json) output.write(`${jsonText({ errors: messages })}\n`);
  else for (const message of messages) output.writeError(`headgate: ${message}\n`);
}

/** JSON in which integers beyond 2^53 are strings, as everywhere in Headgate. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member),
    indent,
  );
}

export { readTime } from '../config/moment.ts';
