import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ModelFileChange, refreshModels } from '../admin/refresh-models.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { listModels } from './models-list.ts';
import { withSettings } from './workspace.ts';

export const modelsCommands: readonly Command[] = [
  command({
    name: 'models list',
    summary: 'List the models: what callers pay, what channels cost, and what is left',
    options: { wide: { placeholder: null, help: 'Names, sizes, costs of input and channels too' } },
    examples: ['headgate models list', 'headgate models list --wide'],
    run: listModels,
  }),
  command({
    name: 'models refresh',
    usage: 'FILE',
    positionals: { min: 1, max: 1 },
    summary:
      'Take in newer facts about models, from a file of catalogue/models or a package (.tgz) with them',
    options: { 'dry-run': { placeholder: null, help: 'Say what would change and change nothing' } },
    run: refresh,
  }),
];

function refresh(context: CommandContext): Promise<ExitReason> {
  const [given = ''] = context.positionals;
  return withSettings(context, ({ settings: { dataDir } }) => {
    const content = readFile(resolve(context.directory, given));
    if (content === null) {
      printFailure(context.output, [`${given} cannot be read`]);
      return Promise.resolve('unavailable');
    }
    const isTrial = context.options['dry-run'] !== undefined;
    const refreshed = refreshModels(dataDir, given, content, { isTrial, nowMs: Date.now() });
    if (!refreshed.ok) {
      printFailure(context.output, [`${refreshed.error}; nothing was changed`]);
      return Promise.resolve('configuration');
    }
    printResult(context.output, { files: refreshed.value }, refreshed.value.map(changeText).join('\n'));
    return Promise.resolve('ok');
  });
}

function readFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function changeText({ file, asOf, isNewer, added, removed, changed }: ModelFileChange): string {
  if (!isNewer) return `${file}: of ${asOf}, which is not newer than what is known; left out`;
  const lines = [
    ...added.map((id) => `  + ${id}`),
    ...removed.map((id) => `  - ${id}`),
    ...Object.entries(changed).map(([id, fields]) => `  ~ ${id}: ${fields.join(', ')}`),
  ];
  return [
    `${file}: of ${asOf}, ${lines.length === 0 ? 'no change' : `${lines.length} changed`}`,
    ...lines,
  ].join('\n');
}
