import type { Actor } from '../../admin/people/actor.ts';
import {
  changeSettings,
  type SettingRefusal,
  type SettingTools,
} from '../../admin/settings/change-settings.ts';
import type { RunningSettings } from '../../admin/settings/running-settings.ts';
import { type SettingsView, settingsPatch, settingsView } from './contract/settings.ts';
import { answer, type ConsoleProblem, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface SettingsSources {
  readonly runningSettings: Pick<RunningSettings, 'report' | 'version' | 'leftOut'>;
  /** Tools as of now, for whoever asks. */
  settingTools(actor: Actor): SettingTools;
  /** Brings into force what has just been changed. */
  bringInSettings(): Promise<void>;
  /** The file that some settings stand in. */
  readonly settingsFile: string | null;
  /** All that is configured, as a file that declares the same again. */
  exportedConfiguration(): Promise<string>;
}

export function settingsApi(api: ConsoleApi, sources: SettingsSources): void {
  const common = { path: '/settings', access: 'operator', tag: 'Settings', answer: settingsView } as const;
  const show = () => answer(viewOf(sources), { version: sources.runningSettings.version });
  api.route({ ...common, method: 'get', summary: 'All settings, and where each is made' }, show);
  api.route(
    {
      ...{
        ...common,
        method: 'patch',
        summary: 'Makes settings in the console',
        rawBody: settingsPatch,
        fresh: true,
      },
      description: [
        'A merge patch (RFC 7396) of values by the names of settings: what it does not name stays, null takes the value of the console away.',
        'Values are written as in a configuration file. What a flag, a variable or the file declares is changed there.',
      ].join(' '),
    },
    async ({ actor, body, ifMatch }) => {
      const wishes = settingsPatch.safeParse(body);
      if (!wishes.success) return invalid([{ field: '', message: 'must be an object of settings' }]);
      // Whoever changed something a moment ago may have done so in another process.
      await sources.bringInSettings();
      const stale = ifMatch(sources.runningSettings.version);
      if (stale !== null) return stale;
      const changed = await changeSettings(sources.settingTools(actor), wishes.data);
      if (!changed.ok) return problemOf(changed.error);
      await sources.bringInSettings();
      return show();
    },
  );
  exportRoute(api, sources);
}

function exportRoute(api: ConsoleApi, { exportedConfiguration }: SettingsSources): void {
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

function viewOf({ runningSettings, settingsFile }: SettingsSources): SettingsView {
  const items = runningSettings.report().map(({ options, ...setting }) => ({
    ...setting,
    options: options === null ? null : [...options],
  }));
  return { file: settingsFile, items, leftOut: [...runningSettings.leftOut] };
}

function problemOf(refusal: SettingRefusal): ConsoleProblem {
  if (refusal.kind === 'invalid') return invalid(refusal.mistakes);
  return problem('conflict', `${refusal.mistake.field} ${refusal.mistake.message}`, [refusal.mistake]);
}
