import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { declareFile } from '../admin/declare/declare-file.ts';
import { exportConfiguration } from '../admin/export-configuration.ts';
import { hashKey } from '../admin/keys.ts';
import { automaticSources } from '../admin/self-configuration.ts';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { describeProblem } from '../config/yaml-source.ts';
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

function importFile(context: CommandContext): Promise<ExitReason> {
  const given = context.positionals[0] ?? '';
  const text = readText(resolve(context.directory, given));
  if (text === null) {
    printFailure(context.output, [`${given} cannot be read`]);
    return Promise.resolve('unavailable');
  }
  return withWorkspace(context, async ({ store, peppers, catalogueFiles, clock }) => {
    const file = readConfigurationFile(text, given);
    const tools = {
      catalogue: catalogueFiles,
      environment: context.environment,
      hashKey: (key: string) => hashKey(key, peppers[0]),
      nowMs: clock.now(),
    };
    const declared = file.ok ? declareFile(file.value, tools) : file;
    if (!declared.ok) {
      printFailure(context.output, declared.error.map(describeProblem));
      return 'configuration';
    }
    const changes = await store.configuration.apply('import', declared.value, tools.nowMs, automaticSources);
    printResult(context.output, { changes }, changesText(changes, context.output.color));
    return changes.some(({ change }) => change === 'refused') ? 'failed' : 'ok';
  });
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
    refused: 'left alone: another source declares it',
  };
  const rows = changes.map(({ kind, id, change }) => [kind, id, words[change]]);
  return tableText(['kind', 'id', 'change'], rows, color);
}

function exportFile(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store }) => {
    const configuration = exportConfiguration(await store.configuration.load());
    printResult(context.output, { configuration }, configuration.trimEnd());
    return 'ok';
  });
}
