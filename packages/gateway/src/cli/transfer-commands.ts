import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { applyFile } from '../admin/apply-file.ts';
import { noting } from '../admin/audit.ts';
import { declareFile } from '../admin/declare/declare-file.ts';
import { exportConfiguration } from '../admin/export-configuration.ts';
import { keyHashes } from '../admin/keys.ts';
import { commandLine } from '../admin/people/actor.ts';
import { automaticSources } from '../admin/self-configuration.ts';
import { type ConfigurationFile, readConfigurationFile } from '../config/configuration-file.ts';
import { settingRows } from '../config/settings-table.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import { environmentOf, givenSettings } from '../config.ts';
import type { ConfigurationChange } from '../ports/configuration-store.ts';
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

export const transferCommands: readonly Command[] = [
  command({
    name: 'apply',
    summary: 'Apply the configuration file now, as a gateway does by itself when it changes',
    options: {
      force: {
        placeholder: null,
        help: 'Also a file that removes most channels or keys',
      },
    },
    run: applyNow,
  }),
  command({
    name: 'import',
    usage: 'FILE',
    positionals: { min: 1, max: 1 },
    summary: 'Put what a configuration file declares into the store, in the place of the last import',
    run: importFile,
  }),
  command({
    name: 'export',
    summary: 'Write what is configured as a configuration file, keys as hashes',
    run: exportFile,
  }),
];

function applyNow(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const { file } = workspace;
    if (file === null) {
      printFailure(context.output, ['there is no configuration file to apply; name one with --config']);
      return 'unavailable';
    }
    const isForced = context.options['force'] !== undefined;
    const tools = { ...workspace, store: workspace.store.configuration, environment: context.environment };
    const applied = await applyFile(tools, file, { isForced, previousText: null });
    if (!applied.ok) return printProblems(context, applied.error);
    if (applied.value.kind === 'applied') return printChanges(context, applied.value.changes);
    printFailure(context.output, [
      `${file.name} is not applied: ${applied.value.reason}; if it is meant: headgate apply --force`,
    ]);
    return 'failed';
  });
}

function printProblems({ output }: CommandContext, problems: readonly ConfigurationProblem[]): ExitReason {
  printFailure(output, problems.map(describeProblem));
  return 'configuration';
}

function printChanges(
  { output }: CommandContext,
  changes: readonly ConfigurationChange[],
  settingsLeftOut: readonly string[] = [],
): ExitReason {
  const text = changesText(changes, output.color);
  if (settingsLeftOut.length === 0) printResult(output, { changes }, text);
  else {
    const names = settingsLeftOut.join(', ');
    const note = `Settings are not imported: ${names}. A start with that file has them (--config), or headgate settings set makes them.`;
    printResult(output, { changes, settingsLeftOut }, `${text}\n${note}`);
  }
  return changes.some(({ change }) => change === 'refused') ? 'failed' : 'ok';
}

function importFile(context: CommandContext): Promise<ExitReason> {
  const given = context.positionals[0] ?? '';
  const text = readText(resolve(context.directory, given));
  if (text === null) {
    printFailure(context.output, [`${given} cannot be read`]);
    return Promise.resolve('unavailable');
  }
  return withWorkspace(context, async ({ store, peppers, catalogueFiles, clock }) => {
    const file = readConfigurationFile(text, given);
    if (!file.ok) return printProblems(context, file.error);
    const tools = {
      catalogue: catalogueFiles,
      environment: context.environment,
      ...keyHashes(peppers),
      nowMs: clock.now(),
    };
    const declared = declareFile(file.value, tools);
    if (!declared.ok) return printProblems(context, declared.error);
    const { configuration } = noting(
      { store, actor: commandLine, nowMs: tools.nowMs },
      {
        action: 'configuration.import',
        ...{ target: { kind: 'configuration', id: 'import', name: given }, accountId: null },
        after: { source: given },
      },
    );
    const changes = await configuration.apply('import', declared.value, tools.nowMs, automaticSources);
    return printChanges(context, changes, settingsIn(file.value));
  });
}

/** The settings that a file makes: a start reads them, and the store keeps those of the console alone. */
function settingsIn(file: ConfigurationFile): readonly string[] {
  const given = givenSettings({ flags: {}, environment: environmentOf({}), file });
  return settingRows().flatMap(([name, { yaml }]) => (given[name] === undefined ? [] : [yaml ?? name]));
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function changesText(changes: readonly ConfigurationChange[], color: boolean): string {
  if (changes.length === 0) return 'Nothing has changed.';
  const words = {
    added: 'added',
    changed: 'changed',
    removed: 'removed',
    refused: 'left alone: another source declares it, or its secret is revoked',
  };
  const rows = changes.map(({ kind, id, change }) => [kind, id, words[change]]);
  return tableText(['kind', 'id', 'change'], rows, color);
}

function exportFile(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store, peppers, clock }) => {
    const { fingerprints } = keyHashes(peppers);
    const stored = await store.configuration.load();
    const configuration = exportConfiguration(stored, fingerprints, clock.now());
    printResult(context.output, { configuration }, configuration.trimEnd());
    return 'ok';
  });
}
