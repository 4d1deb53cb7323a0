import type { Environment } from '../config.ts';
import type { ExitReason } from './exit-code.ts';
import type { Output } from './output.ts';

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
  /** Whether help lists every setting, or only where the data is. */
  readonly showsSettings: boolean;
  run(context: CommandContext): Promise<ExitReason>;
}

/** What a command runs with. */
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
  /** Aborts when the process is asked to stop. */
  readonly stop: AbortSignal;
}

/** A command with the usual answers for what it leaves out. */
export function command(parts: Pick<Command, 'name' | 'summary' | 'run'> & Partial<Command>): Command {
  return { usage: '', positionals: { min: 0, max: 0 }, options: {}, showsSettings: false, ...parts };
}
