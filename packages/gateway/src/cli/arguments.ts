import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { fail, type Result, succeed } from '@headgate/protocols';
import { settingRows } from '../config/settings-table.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { Command } from './command.ts';

/** A command line, taken apart. */
export type Request =
  /** Help of one command, or the list of several. */
  | { readonly kind: 'help'; readonly of: readonly Command[] }
  | { readonly kind: 'version' }
  | ({ readonly kind: 'run' } & RunRequest);

export interface RunRequest {
  readonly command: Command;
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly flags: Readonly<Record<string, string>>;
  readonly json: boolean;
}

/** Reads the words after `headgate`. The error is fit for the person who wrote them. */
export function readArguments(
  words: readonly string[],
  commands: readonly Command[],
): Result<Request, string> {
  const [first] = words;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h')
    return words.length > 1 && first === 'help'
      ? readArguments([...words.slice(1), '--help'], commands)
      : succeed({ kind: 'help', of: commands });
  if (first === '--version') return succeed({ kind: 'version' });
  const found = findCommand(words, commands);
  if (found === null) {
    const family = commands.filter(({ name }) => name.startsWith(`${first} `));
    const isHelp = words[1] === '--help' || words[1] === '-h';
    return isHelp && family.length > 0
      ? succeed({ kind: 'help', of: family })
      : fail(unknownCommand(words, commands));
  }
  return readCommandArguments(found, words.slice(found.name.split(' ').length));
}

function findCommand(words: readonly string[], commands: readonly Command[]): Command | null {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word)) ?? null;
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const family = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (family.length > 0 && (words[1] === undefined || words[1].startsWith('-'))) {
    return `say which: ${family.map(({ name }) => `headgate ${name}`).join(', ')}`;
  }
  const given = words.slice(0, family.length > 0 ? 2 : 1).join(' ');
  return `there is no command "${given}"${didYouMean(
    given,
    commands.map(({ name }) => name),
  )}; see headgate --help`;
}

function readCommandArguments(command: Command, words: readonly string[]): Result<Request, string> {
  const parsed = parseArgs({
    args: [...words],
    options: optionTable(command),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const options: Record<string, string> = {};
  const flags: Record<string, string> = {};
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue;
    const read = readOption(command, token.name, token.value);
    if (!read.ok) return read;
    const { target, name, value } = read.value;
    (target === 'setting' ? flags : options)[name] = value;
  }
  if (options['help'] !== undefined) return succeed({ kind: 'help', of: [command] });
  const { min, max } = command.positionals;
  if (parsed.positionals.length < min || parsed.positionals.length > max) {
    return fail(`write it as: headgate ${[command.name, command.usage].join(' ').trim()}`);
  }
  return succeed({
    kind: 'run',
    command,
    positionals: parsed.positionals,
    options,
    flags,
    json: options['json'] !== undefined,
  });
}

function optionTable(command: Command): ParseArgsOptionsConfig {
  const own = Object.entries(command.options).map(
    ([name, { placeholder }]) => [name, placeholder === null] as const,
  );
  const settings = settingFlags().map(({ flag, isSwitch }) => [flag, isSwitch] as const);
  const all = [...settings, ...own, ['json', true] as const, ['help', true] as const];
  const table = Object.fromEntries(
    all.map(([name, isSwitch]) => [name, { type: isSwitch ? 'boolean' : 'string' } as const]),
  );
  return { ...table, help: { type: 'boolean', short: 'h' } };
}

interface ReadOption {
  readonly target: 'setting' | 'command';
  readonly name: string;
  readonly value: string;
}

function readOption(command: Command, given: string, value: string | undefined): Result<ReadOption, string> {
  const name = given.replace(/^no-/, '');
  const setting = settingFlags().find(({ flag }) => flag === given || flag === name);
  const own = given === 'json' || given === 'help' ? { placeholder: null } : command.options[given];
  const isSwitch = own === undefined ? setting?.isSwitch : own.placeholder === null;
  if (isSwitch === undefined || (given !== name && !isSwitch)) return fail(unknownOption(command, given));
  if (!isSwitch && value === undefined) return fail(`--${given} needs a value`);
  if (isSwitch && value !== undefined) return fail(`--${given} takes no value`);
  const text = value ?? String(given === name || own !== undefined);
  return succeed({
    target: own === undefined ? 'setting' : 'command',
    name: own === undefined ? name : given,
    value: text,
  });
}

function unknownOption(command: Command, given: string): string {
  const known = [...Object.keys(command.options), ...settingFlags().map(({ flag }) => flag), 'json', 'help'];
  const suggestion = didYouMean(given, known).replaceAll('"', '').replace('mean ', 'mean --');
  return `there is no option --${given}${suggestion}; see headgate ${command.name} --help`;
}

function settingFlags(): readonly { readonly flag: string; readonly isSwitch: boolean }[] {
  return settingRows().flatMap(([, { flag, isSwitch }]) => (flag === null ? [] : [{ flag, isSwitch }]));
}
