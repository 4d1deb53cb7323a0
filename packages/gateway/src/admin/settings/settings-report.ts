import type { fixedBecause, Setting } from '../../config/setting.ts';
import { type SettingName, settingRows } from '../../config/settings-table.ts';
import type { GivenText, SettingLayer } from '../../config.ts';
import type { DeclaredSettings } from './layered-settings.ts';

/** A setting as an operator reads it: the value that holds, and the place that it comes from. */
export interface SettingReport {
  readonly name: string;
  readonly section: string;
  readonly help: string;
  /** As it was written, or the default in words; null for a secret, which is told of by `place` alone. */
  readonly value: string | null;
  readonly isDefault: boolean;
  /** `--api-port`, `HEADGATE_API_PORT`, `headgate.yaml:3:9` or `console`; null for a default. */
  readonly place: string | null;
  /** Null for a default. */
  readonly layer: SettingLayer | null;
  /** The ways in which it can be given; null for those that it has not. */
  readonly flag: string | null;
  readonly environment: string;
  readonly yaml: string | null;
  /** In words; and the values themselves where there are few. */
  readonly accepts: string;
  readonly options: readonly string[] | null;
  readonly isSecret: boolean;
  readonly changes: 'now' | 'restart' | 'never';
  /** Why the console never changes it; null where it does. */
  readonly fixedBecause: keyof typeof fixedBecause | null;
  /** Null unless the next start brings another value. */
  readonly pending: { readonly value: string | null; readonly layer: SettingLayer | null } | null;
}

/** All settings, in the order of the documentation. `started`: those of the start; `next`: those that a start would have now. */
export function settingsReport(started: DeclaredSettings, next: DeclaredSettings): readonly SettingReport[] {
  return settingRows().map(([name, row]) => {
    const from = row.changes === 'now' ? next : started;
    const written = from.given[name] ?? null;
    const isOther = JSON.stringify(next.settings[name]) !== JSON.stringify(from.settings[name]);
    const later = next.given[name] ?? null;
    return {
      ...{ name, section: row.section, help: row.help },
      value: valueText(row, written),
      isDefault: written === null,
      place: written?.where ?? null,
      layer: written?.layer ?? null,
      ...waysOf(row),
      ...changeOf(row),
      pending: isOther ? { value: valueText(row, later), layer: later?.layer ?? null } : null,
    };
  });
}

function valueText(row: Setting<unknown>, written: GivenText | null): string | null {
  return isSecret(row) ? null : (written?.text ?? row.defaultText);
}

export function isSecret({ section }: Pick<Setting<unknown>, 'section'>): boolean {
  return section === 'Secrets';
}

function waysOf({ flag, isSwitch, environment, yaml }: Setting<unknown>) {
  return { flag: flag === null ? null : `--${isSwitch ? '[no-]' : ''}${flag}`, environment, yaml };
}

function changeOf(row: Setting<unknown>) {
  const { changes, accepts, isSwitch } = row;
  const options = isSwitch ? ['true', 'false'] : (row.options ?? null);
  const common = { accepts, options, isSecret: isSecret(row) };
  return changes === 'now' || changes === 'restart'
    ? { ...common, changes, fixedBecause: null }
    : { ...common, changes: 'never' as const, fixedBecause: changes };
}

/** The setting that somebody means by its name, its place in the file or its flag. */
export function settingNamed(word: string): SettingName | null {
  const known = settingRows().find(
    ([name, { yaml, flag }]) => word === name || word === yaml || word === flag || word === `--${flag}`,
  );
  return known?.[0] ?? null;
}
