import { settingRows } from '../config/settings-table.ts';
import type { GivenSettings } from '../config.ts';

/** A setting as an operator reads it: the value that holds, and the place that it comes from. */
export interface SettingReport {
  readonly name: string;
  readonly section: string;
  readonly help: string;
  /** As it was written, or the default in words; null for a secret, which is told of by `place` alone. */
  readonly value: string | null;
  readonly isDefault: boolean;
  /** `--api-port`, `HEADGATE_API_PORT` or `headgate.yaml:3:9`; null for a default. */
  readonly place: string | null;
  /** The ways in which it can be given; null for those that it has not. */
  readonly flag: string | null;
  readonly environment: string;
  readonly yaml: string | null;
}

/** All settings, in the order of the documentation. They are declared where the gateway is started, and changed there. */
export function settingsReport(given: GivenSettings): readonly SettingReport[] {
  return settingRows().map(([name, row]) => {
    const written = given[name] ?? null;
    const isSecret = row.section === 'Secrets';
    return {
      ...{ name, section: row.section, help: row.help },
      value: isSecret ? null : (written?.text ?? row.defaultText),
      isDefault: written === null,
      place: written?.where ?? null,
      flag: row.flag === null ? null : `--${row.isSwitch ? '[no-]' : ''}${row.flag}`,
      environment: row.environment,
      yaml: row.yaml,
    };
  });
}
