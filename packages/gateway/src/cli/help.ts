import { settingsHelp } from '../config/settings-text.ts';
import type { Command } from './command.ts';
import { exitCodes } from './exit-code.ts';

/** What `headgate --help` prints. */
export function overviewText(commands: readonly Command[]): string {
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

/** What `headgate COMMAND --help` prints. */
export function commandText(command: Command): string {
  const usage = ['headgate', command.name, command.usage, '[options]']
    .filter((word) => word !== '')
    .join(' ');
  const sections = [command.summary, `Usage: ${usage}`, optionsText(command)];
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
