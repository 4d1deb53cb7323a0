import { readFileSync } from 'node:fs';
import { settingsHelp } from '../config/published-files.ts';
import { processEnvironment } from '../config.ts';
import { accountsCommands } from './accounts-commands.ts';
import { archiveCommand } from './archive-command.ts';
import { readArguments } from './arguments.ts';
import { callsCommands } from './calls-commands.ts';
import { channelsCommands } from './channels-commands.ts';
import {
  type Command,
  type CommandContext,
  type ExitReason,
  exitCodes,
  type Output,
  printFailure,
  thrownFailure,
} from './command.ts';
import { consoleCommands } from './console-commands.ts';
import { credentialsCommands } from './credentials-commands.ts';
import { doctorCommand } from './doctor-command.ts';
import { eventsCommands } from './events-commands.ts';
import { keysCommands } from './keys-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { modelsCommands } from './models-commands.ts';
import { groupsCommands } from './owner-commands.ts';
import { pricesCommands } from './prices-commands.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { restartCommand } from './restart-command.ts';
import { routeCommands } from './route-commands.ts';
import { readSecretInput } from './secret-input.ts';
import { serveCommand } from './serve-command.ts';
import { setPricesCommands } from './set-prices-commands.ts';
import { settingsCommands } from './settings-commands.ts';
import { spendCommand } from './spend-command.ts';
import { transferCommands } from './transfer-commands.ts';
import { webhooksCommands } from './webhooks-commands.ts';

const commands: readonly Command[] = [
  serveCommand,
  restartCommand,
  ...accountsCommands,
  ...groupsCommands,
  ...keysCommands,
  ...channelsCommands,
  ...consoleCommands,
  ...credentialsCommands,
  ...modelsCommands,
  ...pricesCommands,
  ...setPricesCommands,
  ...routeCommands,
  ...settingsCommands,
  ...transferCommands,
  ...callsCommands,
  spendCommand,
  ...eventsCommands,
  ...webhooksCommands,
  doctorCommand,
  ...ledgerCommands,
  reconcileCommand,
  archiveCommand,
];

/** The process that a command runs in. */
export interface Surroundings
  extends Pick<CommandContext, 'environment' | 'directory' | 'stopping' | 'readSecret'> {
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
      output.write(`${helpText(request.value.of)}\n`);
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

function helpText(of: readonly Command[]): string {
  const [only, ...others] = of;
  return only === undefined || others.length > 0 ? overviewText(of) : commandText(only);
}

/** The text of `headgate --help`, or of `headgate keys --help`. */
function overviewText(commands: readonly Command[]): string {
  const names = commands.map(({ name, usage }) => `${name} ${usage}`.trim());
  const width = Math.max(...names.map((name) => name.length));
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${code}  ${meaning}`);
  return [
    'One gateway in front of many model channels.',
    '',
    'Usage: headgate COMMAND [options]',
    '',
    'Commands:',
    ...commands.map(({ summary }, index) => `  ${(names[index] ?? '').padEnd(width)}  ${summary}`),
    '',
    'Every command takes --help, --json for programs, and --data-dir and --config to find what it works on.',
    'Commands work beside a running gateway; what they change takes effect within a second.',
    '',
    'Exit codes:',
    ...codes,
  ].join('\n');
}

/** The text of `headgate COMMAND --help`. */
function commandText(command: Command): string {
  const usage = ['headgate', command.name, command.usage, '[options]']
    .filter((word) => word !== '')
    .join(' ');
  const sections = [command.summary, `Usage: ${usage}`, optionsText(command)];
  if (command.examples.length > 0)
    sections.push(['Examples:', ...command.examples.map((example) => `  ${example}`)].join('\n'));
  if (command.showsSettings) {
    sections.push(
      'Settings, each also by environment (HEADGATE_API_PORT for --api-port) and most by file; defaults in parentheses.',
    );
    sections.push(settingsHelp());
  }
  return sections.join('\n\n');
}

function optionsText(command: Command): string {
  const own = Object.entries(command.options).map(
    ([name, { placeholder, help }]) => [`--${name} ${placeholder ?? ''}`.trim(), help] as const,
  );
  const places = command.showsSettings
    ? []
    : ([
        ['--data-dir PATH', 'Directory of the store (./data)'],
        ['--config PATH', 'Configuration file (headgate.yaml, if there is one)'],
      ] as const);
  const all = [
    ...own,
    ...places,
    ['--json', 'Results and errors as JSON on standard output'] as const,
    ['--help', 'This text'] as const,
  ];
  const width = Math.max(...all.map(([flag]) => flag.length));
  return ['Options:', ...all.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`)].join('\n');
}

/** Runs the command line of this process and leaves its exit code with the process. */
export async function startCommandLine(): Promise<void> {
  exitWhenReaderLeaves();
  // Files that commands write hold usage, or hashes of keys: they are their owner's alone.
  process.umask(0o077);
  const environment = processEnvironment();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment,
    directory: process.cwd(),
    stopping: stopSignal,
    readSecret: () => readSecretInput(process.stdin, (text) => void process.stderr.write(text)),
    version: packageVersion(),
    output: {
      columns: process.stdout.columns,
      color: process.stdout.isTTY && environment('NO_COLOR') === undefined,
      write: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    },
  });
}

/** Aborts at the first request to stop; a second is from someone who has waited long enough. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  return stop.signal;
}

/** A reader that has seen enough, such as `head`, closes the pipe: that is an end, not an error. */
function exitWhenReaderLeaves(): void {
  process.stdout.on('error', (error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0';
}
