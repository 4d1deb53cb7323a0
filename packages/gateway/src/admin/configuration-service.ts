import { readFileSync, statSync } from 'node:fs';
import { type Result, succeed } from '@headgate/protocols';
import { type BuiltCatalogue, buildCatalogue, type CatalogueProblem } from '../catalogue/build.ts';
import type { Catalogue, Provider } from '../catalogue/catalogue.ts';
import { type ConfigurationFile, readConfigurationFile } from '../config/configuration-file.ts';
import { readConfigurationText } from '../config/load-settings.ts';
import { providerDocument, toProvider } from '../config/provider-document.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { Environment, Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationStore, StoredConfiguration } from '../ports/configuration-store.ts';
import type { AlertKind } from '../ports/observer.ts';
import type { Logger } from '../telemetry/logger.ts';
import { applyFile } from './apply-file.ts';
import { type CatalogueFiles, openCatalogueFiles } from './catalogue-files.ts';
import { hashKey, keyHasher } from './keys.ts';
import { credentialHasher, type Peppers, settingsPeppers } from './owner-files.ts';
import { configureItself, type SelfConfiguration } from './self-configuration.ts';

/** Changes made by this process or another take effect within this time and one reading of the configuration. */
const pollIntervalMs = 250;

export interface ConfigurationServiceOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly store: ConfigurationStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fills a gap of a base URL; `simulator` asks for the origin of a simulator, started when it is first needed. */
  readonly variable: (name: string) => Promise<string | null>;
  /** Hears of what an operator should hear of, beside the log. */
  readonly onAlert: (kind: AlertKind) => void;
  /** Hears of every snapshot as it comes into force. */
  readonly onCatalogue: (catalogue: Catalogue) => void;
}

/** Keeps the snapshot of configuration that the hot path reads, and brings every change into it. */
export interface ConfigurationService {
  /** The snapshot in force; a new object at every change. */
  readonly catalogue: { readonly current: Catalogue };
  /** How authentication hashes a key; null when its checksum is wrong. */
  readonly hashKey: (key: string) => string | null;
  /** How the router names a credential in what it stores. */
  readonly hashCredential: (secret: string) => string;
  /** The outcome of a start on a store without configuration. */
  readonly selfConfiguration: SelfConfiguration;
  /** Looks once for changes of the file, of the store, and of prices whose time has come. Never rejects. */
  poll(): Promise<void>;
  /** Looks for changes from now on, several times a second. */
  watch(): void;
  close(): Promise<void>;
}

/**
 * Opens the configuration: applies the file, or configures a store nobody has configured, and builds the first snapshot.
 * `file`: the one that the settings name, where it has been read already. It is let go of once it is applied.
 */
export async function openConfigurationService(
  options: ConfigurationServiceOptions,
  file: ConfigurationFile | null = null,
): Promise<Result<ConfigurationService, readonly ConfigurationProblem[]>> {
  const peppers = settingsPeppers(options.settings);
  if (!peppers.ok) return peppers;
  const parts: Parts = {
    ...options,
    catalogueFiles: openCatalogueFiles(options.settings.dataDir),
    peppers: peppers.value,
  };
  const source = await openSource(parts, options.settings.config, file);
  return source.ok ? succeed(await startService(parts, source.value)) : source;
}

interface Parts extends ConfigurationServiceOptions {
  readonly catalogueFiles: CatalogueFiles;
  readonly peppers: Peppers;
}

/** The sources of configuration, beside the store. */
interface Source {
  readonly file: WatchedFile | null;
  readonly selfConfiguration: SelfConfiguration;
}

async function openSource(
  parts: Parts,
  configFile: string | null,
  known: ConfigurationFile | null,
): Promise<Result<Source, readonly ConfigurationProblem[]>> {
  if (configFile === null) {
    return succeed({ file: null, selfConfiguration: await selfConfigure(parts) });
  }
  const read = known === null ? readConfigurationText(configFile) : succeed(known);
  if (!read.ok) return read;
  const file: WatchedFile = {
    path: configFile,
    watch: watchFile(configFile, read.value.text),
    pendingText: null,
    withheldText: null,
    appliedText: null,
    settingsText: null,
  };
  const applied = await applyRead(parts, file, read.value);
  if (!applied.ok) return applied;
  return succeed({ file, selfConfiguration: { kind: 'none' } });
}

function selfConfigure(parts: Parts): Promise<SelfConfiguration> {
  if (!parts.settings.demo) return Promise.resolve({ kind: 'none' });
  return configureItself({
    store: parts.store,
    catalogue: parts.catalogueFiles,
    environment: parts.environment,
    dataDir: parts.settings.dataDir,
    hashKey: (key) => hashKey(key, parts.peppers[0]),
    nowMs: parts.clock.now(),
  });
}

interface WatchedFile {
  readonly path: string;
  readonly watch: FileWatch;
  /** Text that was read and neither applied nor refused yet, because the store failed. */
  pendingText: string | null;
  /** Text that is not applied until the operator says so, or until it takes less away. */
  withheldText: string | null;
  /** Text that is in force, as far as this process knows. */
  appliedText: string | null;
  /** The part of the file that takes effect only at a start, kept to notice that it changed. */
  settingsText: string | null;
}

/** Applies the file as it was read, and tells the operator what it did not do, and why. */
async function applyRead(
  parts: Parts,
  file: WatchedFile,
  read: ConfigurationFile,
): Promise<Result<null, readonly ConfigurationProblem[]>> {
  const { text } = read;
  const applied = await applyFile(parts, read, { isForced: false, previousText: file.appliedText });
  if (!applied.ok) {
    file.withheldText = null;
    return applied;
  }
  const isNews = applied.value.kind !== 'withheld' || file.withheldText !== text;
  file.withheldText = applied.value.kind === 'withheld' ? text : null;
  if (applied.value.kind === 'withheld') {
    if (isNews) warnOfWithheld(parts, file, applied.value.reason);
    return succeed(null);
  }
  for (const { kind, id } of applied.value.changes.filter(({ change }) => change === 'refused')) {
    parts.logger.warn(`${kind} ${id} is refused: another source declares it already`, { file: file.path });
  }
  const { deployment, settings } = read.shape;
  const settingsText = JSON.stringify([deployment, settings]);
  if (file.settingsText !== null && settingsText !== file.settingsText) {
    parts.logger.warn('settings in the configuration file have changed; they take effect at the next start', {
      file: file.path,
    });
  }
  Object.assign(file, { settingsText, appliedText: text });
  return succeed(null);
}

function warnOfWithheld({ logger, onAlert }: Parts, { path }: WatchedFile, reason: string): void {
  onAlert('configuration-withheld');
  logger.error(
    `configuration not applied: ${reason}. What was in force stays; if it is meant: headgate apply --force`,
    { alert: 'configuration-withheld', file: path },
  );
}

async function startService(parts: Parts, source: Source): Promise<ConfigurationService> {
  const { store, clock, logger } = parts;
  let loaded = await loadCatalogue(parts);
  let book = parts.catalogueFiles.models();
  const catalogue = { current: loaded.catalogue };
  parts.onCatalogue(loaded.catalogue);
  logProblems(logger, loaded.problems, []);

  const reload = async (): Promise<void> => {
    const previous = loaded;
    book = parts.catalogueFiles.models();
    loaded = await loadCatalogue(parts);
    catalogue.current = loaded.catalogue;
    parts.onCatalogue(loaded.catalogue);
    logger.info('configuration changed', { revision: loaded.catalogue.revision });
    logProblems(logger, loaded.problems, previous.problems);
    if (source.file !== null) source.file.pendingText ??= source.file.withheldText;
  };
  const look = async (): Promise<void> => {
    if (source.file !== null) await applyChange(parts, source.file);
    const revision = await store.revision();
    const isPriceDue = loaded.nextChangeAtMs !== null && loaded.nextChangeAtMs <= clock.now();
    const isBookNew = parts.catalogueFiles.models() !== book;
    if (revision !== loaded.catalogue.revision || isPriceDue || isBookNew) await reload();
  };
  let failure: string | null = null;
  const poll = oneAtATime(async () => {
    try {
      await look();
      failure = null;
    } catch (error) {
      // The same failure four times a second would hide all others.
      if (String(error) !== failure)
        logger.error('configuration could not be read; what was in force stays', { error });
      failure = String(error);
    }
  });

  let timer: NodeJS.Timeout | null = null;
  return {
    catalogue,
    hashCredential: credentialHasher(parts.peppers),
    hashKey: keyHasher(parts.peppers, (hash) => catalogue.current.keys.has(hash)),
    selfConfiguration: source.selfConfiguration,
    poll,
    watch: () => {
      timer ??= setInterval(() => void poll(), pollIntervalMs).unref();
    },
    close: async () => {
      if (timer !== null) clearInterval(timer);
      await poll.settled();
    },
  };
}

/** Applies a file that has changed. One that is wrong is refused whole and every mistake in it logged. */
async function applyChange(parts: Parts, file: WatchedFile): Promise<void> {
  file.pendingText = file.watch.poll() ?? file.pendingText;
  if (file.pendingText === null) return;
  const read = readConfigurationFile(file.pendingText, file.path);
  const applied = read.ok ? await applyRead(parts, file, read.value) : read;
  if (!read.ok) file.withheldText = null;
  file.pendingText = null;
  if (applied.ok) return;
  for (const problem of applied.error)
    parts.logger.error(`configuration refused: ${describeProblem(problem)}`, { file: file.path });
}

/** Logs what is missing now and was not missing before. */
function logProblems(
  logger: Logger,
  problems: readonly CatalogueProblem[],
  known: readonly CatalogueProblem[],
): void {
  const old = new Set(known.map((problem) => `${problem.kind} ${problem.subject}`));
  for (const { kind, subject, detail } of problems) {
    if (!old.has(`${kind} ${subject}`)) logger.warn(`${subject}: ${detail}`, { alert: kind });
  }
}

interface Repeated {
  (): Promise<void>;
  /** Resolves when none is running. */
  settled(): Promise<void>;
}

/** A task asked for while it runs is not run twice: the asker waits for the one under way. */
function oneAtATime(task: () => Promise<void>): Repeated {
  let running: Promise<void> | null = null;
  const run = (): Promise<void> => {
    running ??= task().finally(() => {
      running = null;
    });
    return running;
  };
  return Object.assign(run, { settled: () => running ?? Promise.resolve() });
}

export interface CatalogueLoadTools {
  readonly store: ConfigurationStore;
  readonly catalogueFiles: CatalogueFiles;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'unpricedModels'>;
  readonly variable: (name: string) => Promise<string | null>;
}

/** Reads the stored configuration and builds the snapshot from it. */
export async function loadCatalogue(tools: CatalogueLoadTools): Promise<BuiltCatalogue> {
  const stored = await tools.store.load();
  const provider = providerLookup(stored, tools.catalogueFiles);
  const variables = await resolveGaps(stored, provider, tools.variable);
  return buildCatalogue({
    stored,
    provider,
    book: tools.catalogueFiles.models(),
    secret: tools.environment,
    variable: (name) => variables.get(name) ?? undefined,
    nowMs: tools.clock.now(),
    unpricedModels: tools.settings.unpricedModels,
  });
}

/** A stored row wins over the catalogue's; one that a newer version wrote and this one cannot read counts as missing. */
function providerLookup(stored: StoredConfiguration, files: CatalogueFiles): (id: string) => Provider | null {
  return (id) => {
    const json = stored.providers[id];
    const document =
      json === undefined ? files.provider(id) : providerDocument.safeParse(JSON.parse(json)).data;
    return document === undefined || document === null ? null : toProvider(document);
  };
}

/** Asks for the gaps of the base URLs in use, and for no others: filling one may start something. */
async function resolveGaps(
  stored: StoredConfiguration,
  provider: (id: string) => Provider | null,
  variable: (name: string) => Promise<string | null>,
): Promise<ReadonlyMap<string, string | null>> {
  const addresses = stored.channels.map(
    (channel) => channel.baseUrl ?? provider(channel.providerId)?.baseUrl ?? '',
  );
  const names = new Set(
    addresses.flatMap((address) => [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
  );
  return new Map(await Promise.all([...names].map(async (name) => [name, await variable(name)] as const)));
}

/** Notices changes of one file, however it is written: in place, renamed over, or through a link that moves. */
export interface FileWatch {
  /**
   * Looks at the file. Returns its text when it differs from what was last seen and has stopped changing since the
   * look before, so that a file half written is not read; else null. A file that is gone is waited for.
   */
  poll(): string | null;
}

/** Watches a file whose content is known already. Looking beats listening: change events miss renames and network mounts. */
export function watchFile(path: string, knownText: string): FileWatch {
  // Nothing counts as seen yet: the file may have changed since its text was read.
  let seen: string | null = null;
  let settled = true;
  let text = knownText;
  return {
    poll: () => {
      const now = fingerprint(path);
      if (now !== seen) {
        seen = now;
        settled = false;
        return null;
      }
      if (settled || now === null) return null;
      settled = true;
      const changed = readFileSync(path, 'utf8');
      if (changed === text) return null;
      text = changed;
      return changed;
    },
  };
}

function fingerprint(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}
