import { settingRows } from '../../config/settings-table.ts';
import type { Environment, Settings } from '../../config.ts';
import type { ConfigurationStore, StoredSetting } from '../../ports/configuration-store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type LayeredSettings, type SettingLeftOut, withConsole } from './layered-settings.ts';
import { type SettingReport, settingsReport } from './settings-report.ts';

const changedAtOnce = settingRows()
  .filter(([, { changes }]) => changes === 'now')
  .map(([name]) => name);

/** The settings of a process that runs: those of its start, and the ones of the console that have changed since. */
export class RunningSettings {
  /** The settings in force. Members that change at once are written anew: whoever keeps this object follows them. */
  readonly inForce: Settings;
  readonly #started: LayeredSettings;
  readonly #environment: Environment;
  readonly #listeners: (() => void)[] = [];
  #next: LayeredSettings;
  #stored: readonly StoredSetting[] = [];
  /** The rows that the start was made with may be others than those that it finds. */
  #hasRead = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(started: LayeredSettings, environment: Environment) {
    this.#started = started;
    this.#next = started;
    this.#environment = environment;
    this.inForce = { ...started.settings };
  }

  get declared(): LayeredSettings['declared'] {
    return this.#started.declared;
  }

  /** The values of the store that are not followed. */
  get leftOut(): readonly SettingLeftOut[] {
    return this.#next.leftOut;
  }

  /** All that a change may overwrite. */
  get version(): object {
    return this.#stored.map(({ name, text, sealed }) => [name, text, sealed?.sealed ?? null]);
  }

  report(): readonly SettingReport[] {
    return settingsReport(this.#started, this.#next);
  }

  /** Is told whenever the store has other settings than before. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the store anew. One reading follows the other, so that none goes back behind a later one. */
  refresh(store: Pick<ConfigurationStore, 'settings'>): Promise<void> {
    const looked = this.#looking.then(() => this.#look(store));
    this.#looking = looked.catch(() => undefined);
    return looked;
  }

  /** Reads the store anew because somebody has configured something, perhaps in another process. Never fails. */
  follow(store: Pick<ConfigurationStore, 'settings'>, logger: Pick<Logger, 'warn'>): void {
    this.refresh(store).catch((error: unknown) => {
      logger.warn('settings of the console could not be read; those in force stay', { error });
    });
  }

  async #look(store: Pick<ConfigurationStore, 'settings'>): Promise<void> {
    const before = this.#hasRead ? JSON.stringify(this.version) : null;
    this.#stored = await store.settings();
    this.#hasRead = true;
    if (JSON.stringify(this.version) === before) return;
    this.#next = withConsole(this.#started.declared, this.#stored, this.#environment);
    for (const name of changedAtOnce) Object.assign(this.inForce, { [name]: this.#next.settings[name] });
    for (const listener of this.#listeners) listener();
  }
}
