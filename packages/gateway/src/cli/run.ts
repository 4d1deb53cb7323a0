import { readArguments } from './arguments.ts';
import { channelsCommands } from './channels-commands.ts';
import type { Command, CommandContext } from './command.ts';
import { doctorCommand } from './doctor-command.ts';
import { type ExitReason, exitCodes } from './exit-code.ts';
import { commandText, overviewText } from './help.ts';
import { keysCommands } from './keys-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import type { Output } from './output.ts';
import { printFailure } from './output.ts';
import { routeCommands } from './route-commands.ts';
import { serveCommand } from './serve-command.ts';
import { thrownFailure } from './thrown-failure.ts';
import { transferCommands } from './transfer-commands.ts';

const commands: readonly Command[] = [
  serveCommand,
  ...keysCommands,
  ...channelsCommands,
  ...routeCommands,
  ...transferCommands,
  doctorCommand,
  ...ledgerCommands,
];

/** Where a command runs. */
export interface Surroundings extends Pick<CommandContext, 'environment' | 'directory' | 'stop'> {
  readonly output: Omit<Output, 'json'>;
  readonly version: string;
}

/** Runs one command line, the words after `headgate`, and returns the code for the shell. */
export async function runCommandLine(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const output = { ...surroundings.output, json: words.includes('--json') };
  const request = readArguments(words, commands);
  try {
    return exitCodes[await answer(request, surroundings, output)].code;
  } catch (error) {
    const failure = thrownFailure(error);
    printFailure(output, [failure.message]);
    return exitCodes[failure.reason].code;
  }
}

function answer(
  request: ReturnType<typeof readArguments>,
  surroundings: Surroundings,
  output: Output,
): Promise<ExitReason> {
  if (!request.ok) {
    printFailure(output, [request.error]);
    return Promise.resolve('usage');
  }
  switch (request.value.kind) {
    case 'help':
      output.write(
        `${request.value.command === null ? overviewText(commands) : commandText(request.value.command)}\n`,
      );
      return Promise.resolve('ok');
    case 'version':
      output.write(`${surroundings.version}\n`);
      return Promise.resolve('ok');
    case 'run': {
      const { command, ...asked } = request.value;
      return command.run({ ...surroundings, ...asked, output });
    }
  }
}
