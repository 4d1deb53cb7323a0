import { fail, type Result, succeed } from '@headgate/protocols';
import { type CatalogueFiles, openCatalogueFiles } from '../admin/catalogue-files.ts';
import { loadCatalogue } from '../admin/load-catalogue.ts';
import { makeDataDirectory, type Peppers, settingsPeppers, storeFile } from '../admin/owner-files.ts';
import { SecretBook } from '../admin/secrets/secret-book.ts';
import type { LayeredSettings } from '../admin/settings/layered-settings.ts';
import { type ProxyFor, usualProxy } from '../admin/usual-proxy.ts';
import type { BuiltCatalogue } from '../catalogue/build.ts';
import type { ConfigurationFile } from '../config/configuration-file.ts';
import { describeProblem } from '../config/yaml-source.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import { type Store, StoreUnusable } from '../ports/store.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { type CommandContext, type ExitReason, printFailure } from './command.ts';
import { type CommandSettings, loadCommandSettings } from './command-settings.ts';

/** The files that a command on a data directory has open. A gateway may be running on the same directory. */
export interface Workspace {
  readonly settings: Settings;
  readonly layers: LayeredSettings;
  /** The configuration file, as it was read for the settings; null where there is none. */
  readonly file: ConfigurationFile | null;
  readonly store: Store;
  readonly peppers: Peppers;
  readonly catalogueFiles: CatalogueFiles;
  readonly secrets: SecretBook;
  readonly proxyFor: ProxyFor;
  readonly clock: Clock;
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Reads the settings and hands them on, or says what is wrong with them. */
export function withSettings(
  context: CommandContext,
  run: (loaded: CommandSettings) => Promise<ExitReason>,
): Promise<ExitReason> {
  const loaded = loadCommandSettings(context);
  if (loaded.ok) return run(loaded.value);
  printFailure(context.output, loaded.error.map(describeProblem));
  return Promise.resolve('configuration');
}

/** Opens the data directory for a command and lets go of it afterwards. */
export function withWorkspace(
  context: CommandContext,
  run: (workspace: Workspace) => Promise<ExitReason>,
): Promise<ExitReason> {
  return withSettings(context, async ({ settings, layers, file }) => {
    const peppers = settingsPeppers(settings);
    if (!peppers.ok) {
      printFailure(context.output, peppers.error.map(describeProblem));
      return 'configuration';
    }
    const proxyFor = usualProxy(settings, context.environment);
    if (!proxyFor.ok) {
      printFailure(context.output, proxyFor.error.map(describeProblem));
      return 'configuration';
    }
    const opened = await openStore(settings);
    if (!opened.ok) {
      printFailure(context.output, [opened.error]);
      return 'unavailable';
    }
    const store = opened.value;
    const { dataDir } = settings;
    const { environment, output } = context;
    const onWarning = (text: string) => output.writeError(`headgate: ${text}\n`);
    const secrets = new SecretBook({ environment, dataDir, clock: systemClock, onWarning });
    try {
      return await run({
        settings,
        layers,
        file,
        store,
        peppers: peppers.value,
        catalogueFiles: openCatalogueFiles(dataDir),
        secrets,
        proxyFor: proxyFor.value,
        clock: systemClock,
      });
    } catch (error) {
      // Damage may be found by whoever reads it first.
      const problem = problemOfStore(error);
      if (problem === null) throw error;
      printFailure(output, [problem]);
      return 'unavailable';
    } finally {
      secrets.close();
      await store.close();
    }
  });
}

async function openStore(settings: Settings): Promise<Result<Store, string>> {
  try {
    makeDataDirectory(settings.dataDir);
    const store = await openSqliteStore({
      file: storeFile(settings.dataDir),
      durability: 'strict',
      clock: systemClock,
      onAlarm: () => undefined,
      // A thread takes longer to start than most commands to run.
      openLane: (...lane) => new SameThreadLane(...lane),
    });
    return succeed(store);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return fail(problemOfStore(error) ?? `the store in ${settings.dataDir} cannot be opened: ${detail}`);
  }
}

/** The words of an error whose cause is the store; null for any other. */
function problemOfStore(error: unknown): string | null {
  return error instanceof StoreUnusable ? error.message : null;
}

/** Stands in for the address of a simulator that a listing has no need to start. */
export const builtIn = 'http://built-in.invalid';

/** The catalogue as a gateway on this data directory would build it. `simulator` tells the address of one, if one is needed. */
export function workspaceCatalogue(
  { store, ...workspace }: Workspace,
  simulator: () => Promise<string> = () => Promise.resolve(builtIn),
): Promise<BuiltCatalogue> {
  const variable = (name: string) => (name === 'simulator' ? simulator() : Promise.resolve(null));
  return loadCatalogue({ ...workspace, store: store.configuration, variable }, true);
}
