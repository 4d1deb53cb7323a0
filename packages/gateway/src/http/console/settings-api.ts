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
  /** All that is configured, as a file that declares the same again. */
  exportedConfiguration(): Promise<string>;
}

export function settingsApi(
  api: ConsoleApi,
  { givenSettings, settingsFile, exportedConfiguration }: SettingsSources,
): void {
  api.route(
    {
      ...{ method: 'get', path: '/settings', access: 'operator', tag: 'Settings', answer: settingsView },
      summary: 'All settings, and where each is declared',
    },
    () => answer({ file: settingsFile, items: [...settingsReport(givenSettings)] }),
  );
  api.stream(
    {
      ...{ method: 'get', path: '/settings/export', access: 'operator', tag: 'Settings' },
      ...{ produces: 'application/yaml', summary: 'All that is configured, as a configuration file' },
    },
    async () =>
      new Response(await exportedConfiguration(), {
        headers: {
          'content-type': 'application/yaml; charset=utf-8',
          'content-disposition': 'attachment; filename="headgate.yaml"',
          'cache-control': 'no-store',
        },
      }),
  );
}
