import type { Setting, SettingSection } from './setting.ts';
import { settingRows } from './settings-table.ts';

/** Help lines of every setting that has a flag, by section, in two columns. */
export function settingsHelp(): string {
  const rows = settingRows()
    .map(([, row]) => row)
    .filter((row) => row.flag !== null);
  const width = Math.max(...rows.map((row) => flagText(row).length));
  const lines = bySection(rows).map(([section, members]) =>
    [`${section}:`, ...members.map((row) => helpLine(row, width))].join('\n'),
  );
  return lines.join('\n\n');
}

function helpLine(row: Setting<unknown>, width: number): string {
  return `  ${flagText(row).padEnd(width)}  ${row.help} (${row.defaultText})`;
}

function flagText(row: Setting<unknown>): string {
  return row.isSwitch ? `--[no-]${row.flag}` : `--${row.flag} ${row.placeholder}`;
}

function bySection(
  rows: readonly Setting<unknown>[],
): readonly (readonly [SettingSection, readonly Setting<unknown>[]])[] {
  return [...Map.groupBy(rows, (row) => row.section)];
}

/** The tables of docs/configuration.md, between its markers. */
export function settingsMarkdown(): string {
  const rows = settingRows().map(([, row]) => row);
  return bySection(rows)
    .map(([section, members]) => `### ${section}\n\n${table(members)}`)
    .join('\n\n');
}

function table(rows: readonly Setting<unknown>[]): string {
  const head = ['Setting', 'Flag', 'Environment', 'File', 'Accepts', 'Default'];
  const body = rows.map((row) => [
    row.help,
    code(row.flag === null ? null : `--${row.flag}`),
    code(row.environment),
    code(row.yaml),
    row.accepts,
    row.defaultText,
  ]);
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function code(text: string | null): string {
  return text === null ? '–' : `\`${text}\``;
}
