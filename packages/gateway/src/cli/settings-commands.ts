import { fail, type Result, succeed } from '@headgate/protocols';
import { commandLine } from '../admin/people/actor.ts';
import {
  changeSettings,
  type SettingRefusal,
  type SettingWishes,
} from '../admin/settings/change-settings.ts';
import { isSetting } from '../admin/settings/layered-settings.ts';
import { isSecret, settingNamed, settingsReport } from '../admin/settings/settings-report.ts';
import { settingsTable } from '../config/settings-table.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { tableText } from './table.ts';
import { withWorkspace } from './workspace.ts';

export const settingsCommands: readonly Command[] = [
  command({
    name: 'settings list',
    summary: 'List the settings that a start would have now, and where each is made',
    options: { all: { placeholder: null, help: 'Also those that are as they come' } },
    run: list,
  }),
  command({
    name: 'settings set',
    usage: 'NAME [VALUE]',
    positionals: { min: 1, max: 2 },
    summary: 'Make a setting in the console, below what is declared; a secret is read from standard input',
    examples: [
      'headgate settings set deployment.name "Example Gateway"',
      'headgate settings set log-level debug',
      'headgate settings set oidcClientSecret < secret',
    ],
    run: set,
  }),
  command({
    name: 'settings unset',
    usage: 'NAME…',
    positionals: { min: 1, max: 100 },
    summary: 'Take settings of the console away',
    run: unset,
  }),
];

function list(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, (workspace) => {
    const { layers } = workspace;
    const isAll = context.options['all'] !== undefined;
    const settings = settingsReport(layers, layers).filter(({ isDefault }) => isAll || !isDefault);
    const changes = { now: 'at once', restart: 'with a restart', never: 'not in the console' } as const;
    const rows = settings.map(({ name, yaml, value, place, isDefault, changes: how }) => [
      yaml ?? name,
      value ?? (isDefault ? '–' : '(secret)'),
      place ?? 'default',
      changes[how],
    ]);
    const table = tableText(['setting', 'value', 'made in', 'changes'], rows, context.output.color);
    const notes = layers.leftOut.map(({ name, reason }) => `${name} of the console is left out: ${reason}`);
    const text = rows.length === 0 ? 'All settings are as they come; --all lists them.' : table;
    const report = settings.map(({ pending: _, ...setting }) => setting);
    printResult(context.output, { settings: report, leftOut: layers.leftOut }, [text, ...notes].join('\n'));
    return Promise.resolve('ok');
  });
}

async function set(context: CommandContext): Promise<ExitReason> {
  const [word = '', written] = context.positionals;
  const value = await writtenValue(context, word, written);
  if (!value.ok) {
    printFailure(context.output, [value.error]);
    return 'usage';
  }
  return change(context, { [nameOf(word)]: value.value });
}

/** A secret is on no command line, which others can read. */
async function writtenValue(
  { readSecret }: CommandContext,
  word: string,
  written: string | undefined,
): Promise<Result<string, string>> {
  const name = settingNamed(word);
  if (name !== null && isSecret(settingsTable[name])) {
    if (written !== undefined)
      return fail('a secret is read from standard input, and not from the command line');
    const secret = await readSecret();
    return secret.ok ? succeed(secret.value.trim()) : secret;
  }
  return written === undefined ? fail(`settings set ${word} needs a value`) : succeed(written);
}

function unset(context: CommandContext): Promise<ExitReason> {
  return change(context, Object.fromEntries(context.positionals.map((word) => [nameOf(word), null])));
}

/** A word that names nothing is refused by its own name. */
function nameOf(word: string): string {
  return settingNamed(word) ?? word;
}

function change(context: CommandContext, wishes: SettingWishes): Promise<ExitReason> {
  return withWorkspace(context, async ({ store, layers, clock }): Promise<ExitReason> => {
    const { declared } = layers;
    const { environment } = context;
    const tools = { store, declared, environment, actor: commandLine, nowMs: clock.now() };
    const changed = await changeSettings(tools, wishes);
    if (!changed.ok) {
      printFailure(context.output, wordsOf(changed.error));
      return 'failed';
    }
    const later = changed.value.filter(
      (name) => isSetting(name) && settingsTable[name].changes === 'restart',
    );
    const when =
      later.length === 0
        ? 'In force within a second.'
        : 'In force with the next start: headgate restart, where one runs.';
    const names = changed.value.join(', ');
    const text = changed.value.length === 0 ? 'Nothing is other than before.' : `Changed: ${names}. ${when}`;
    printResult(context.output, { changed: changed.value, needsRestart: later }, text);
    return 'ok';
  });
}

function wordsOf(refusal: SettingRefusal): readonly string[] {
  const mistakes = refusal.kind === 'invalid' ? refusal.mistakes : [refusal.mistake];
  return mistakes.map(({ field, message }) => `${field}: ${message}`);
}
