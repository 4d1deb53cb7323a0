import { settingsReport } from '../../admin/settings-report.ts';
import type { GivenSettings } from '../../config.ts';
import { settingsView } from './contract/settings.ts';
import { answer } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface SettingsSources {
  /** The settings as they were given to this start, and the file that some stand in. */
  readonly givenSettings: GivenSettings;
  readonly settingsFile: string | null;
}

export function settingsApi(api: ConsoleApi, { givenSettings, settingsFile }: SettingsSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/settings', access: 'operator', tag: 'Settings', answer: settingsView },
      summary: 'All settings, and where each is declared',
    },
    () => answer({ file: settingsFile, items: [...settingsReport(givenSettings)] }),
  );
}
