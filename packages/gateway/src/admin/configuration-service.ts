import { type Result, succeed } from '@headgate/protocols';
import type { BuiltCatalogue, CatalogueProblem } from '../catalogue/build.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DeclaredChannel } from '../catalogue/entities.ts';
import type { ModelBook } from '../catalogue/model-facts.ts';
import { type ConfigurationFile, readConfigurationFile } from '../config/configuration-file.ts';
import { readConfigurationText } from '../config/load-settings.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { Environment, Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationStore } from '../ports/configuration-store.ts';
import type { EventSink } from '../ports/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import { applyFile } from './apply-file.ts';
import { tellProblems } from './catalogue-alerts.ts';
import { type CatalogueFiles, openCatalogueFiles } from './catalogue-files.ts';
import { type FileWatch, watchFile } from './file-watch.ts';
import { hashKey, keyHasher } from './keys.ts';
import { loadCatalogue } from './load-catalogue.ts';
import { credentialHasher, type Peppers, settingsPeppers } from './owner-files.ts';
import { SecretBook } from './secrets/secret-book.ts';
import { configureItself, type SelfConfiguration } from './self-configuration.ts';
import { ignoredProxyVariable, type ProxyFor, usualProxy } from './usual-proxy.ts';

/** Changes made by this process or another take effect within this time and one reading of the configuration. */
const pollIntervalMs = 250;

/** A look that takes longer than this meets a store that does not answer. */
const blindMs = 5_000;

export interface ConfigurationServiceOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly store: ConfigurationStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fills a gap of a base URL; `simulator` asks for the origin of a simulator, started when it is first needed. */
  readonly variable: (name: string) => Promise<string | null>;
  /** Hears of what an operator should hear of, beside the log. */
  readonly alerts: EventSink;
  /** Hears of every snapshot as it comes into force, and of what it lacks. */
  readonly onCatalogue: (built: BuiltCatalogue) => void;
}

/** Keeps the snapshot of configuration that the hot path reads, and brings every change into it. */
export interface ConfigurationService {
  /** The snapshot in force; a new object at every change. */
  readonly catalogue: { readonly current: Catalogue };
  /** The things that the snapshot lacks. */
  readonly problems: readonly CatalogueProblem[];
  /** The secrets that keys are hashed with, the newest first. */
  readonly peppers: Peppers;
  /** How authentication hashes a key; null when its checksum is wrong. */
  readonly hashKey: (key: string) => string | null;
  /**
   * False while the store cannot tell what has been configured lately: a key that is not in the snapshot may be a new one then.
   */
  readonly isInStep: () => boolean;
  /** How the router names a credential in what it stores. */
  readonly hashCredential: (secret: string) => string;
  /** An upstream has refused a credential: a command that printed it is run again. */
  credentialRefused(credentialId: string): void;
  /** The catalogue that there would be if this were its only channel, with its secrets as they are now. Nothing is kept of it. */
  sketch(channel: DeclaredChannel): Promise<BuiltCatalogue>;
  /** The files that come with Headgate. */
  readonly catalogueFiles: CatalogueFiles;
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
  const { settings, environment, logger } = options;
  const proxyFor = usualProxy(settings, environment);
  if (!proxyFor.ok) return proxyFor;
  const ignored = ignoredProxyVariable(settings, environment);
  if (ignored !== null)
    logger.warn(`${ignored} is set and not followed; HEADGATE_UPSTREAM_PROXY=environment follows it`);
  const parts: Parts = {
    ...options,
    proxyFor: proxyFor.value,
    catalogueFiles: openCatalogueFiles(options.settings.dataDir),
    peppers: peppers.value,
    secrets: openSecrets(options),
  };
  const source = await openSource(parts, options.settings.config, file);
  return source.ok ? succeed(await startService(parts, source.value)) : source;
}

function openSecrets({ environment, settings, clock, logger }: ConfigurationServiceOptions): SecretBook {
  const onWarning = (text: string) => logger.warn(text);
  return new SecretBook({ environment, dataDir: settings.dataDir, clock, onWarning });
}

interface Parts extends ConfigurationServiceOptions {
  readonly catalogueFiles: CatalogueFiles;
  readonly peppers: Peppers;
  readonly secrets: SecretBook;
  readonly proxyFor: ProxyFor;
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
  for (const kind of ['configuration-withheld', 'configuration-refused'] as const)
    parts.alerts.over(kind, { file: file.path });
  for (const { kind, id } of applied.value.changes.filter(({ change }) => change === 'refused')) {
    parts.logger.warn(
      `${kind} ${id} is refused: another source declares it already, or its secret is revoked`,
      { file: file.path },
    );
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

function warnOfWithheld({ logger, alerts }: Parts, { path }: WatchedFile, reason: string): void {
  alerts.raise('configuration-withheld', { file: path, reason });
  logger.error(
    `configuration not applied: ${reason}. What was in force stays; if it is meant: headgate apply --force`,
    { alert: 'configuration-withheld', file: path },
  );
}

async function startService(parts: Parts, source: Source): Promise<ConfigurationService> {
  const { logger, secrets, clock } = parts;
  let loaded = await loadCatalogue(parts, true);
  let book = parts.catalogueFiles.models();
  const catalogue = { current: loaded.catalogue };
  parts.onCatalogue(loaded);
  tellProblems(parts, loaded.problems, []);

  const reload = async (): Promise<void> => {
    const previous = loaded;
    book = parts.catalogueFiles.models();
    // A command may take seconds, and a revoked key must not work as long: what it prints is taken up by a later look.
    loaded = await loadCatalogue(parts, false);
    catalogue.current = loaded.catalogue;
    parts.onCatalogue(loaded);
    logger.info('configuration changed', { revision: loaded.catalogue.revision });
    tellProblems(parts, loaded.problems, previous.problems);
    if (source.file !== null) source.file.pendingText ??= source.file.withheldText;
  };
  // A secret that is new stays so until a snapshot has been made with it: the store may fail meanwhile.
  let hasNewSecret = false;
  let lookedAt = clock.monotonic();
  let timer: NodeJS.Timeout | null = null;
  let moment: NodeJS.Timeout | undefined;
  // A planned price begins at its moment, and not at the look after it.
  const awaitPrice = (): void => {
    const waitMs = (loaded.steady.untilMs ?? Number.POSITIVE_INFINITY) - clock.now();
    clearTimeout(moment);
    if (timer !== null && waitMs < pollIntervalMs) moment = setTimeout(() => void poll(), waitMs).unref();
  };
  const poll: Repeated = oneAtATime(
    toldOnce(logger, async () => {
      if (source.file !== null) await applyChange(parts, source.file);
      hasNewSecret = (await secrets.look()) || hasNewSecret;
      if (hasNewSecret || (await isOutdated(parts, loaded, book))) await reload();
      hasNewSecret = false;
      lookedAt = clock.monotonic();
      awaitPrice();
    }),
  );

  return {
    catalogue,
    get problems() {
      return loaded.problems;
    },
    peppers: parts.peppers,
    hashCredential: credentialHasher(parts.peppers),
    isInStep: () => timer === null || clock.monotonic() - lookedAt < blindMs,
    hashKey: keyHasher(parts.peppers, (hash) => catalogue.current.keys.has(hash)),
    sketch: (channel) => sketchCatalogue(parts, channel),
    catalogueFiles: parts.catalogueFiles,
    credentialRefused: (credentialId) => secrets.refused(credentialId),
    selfConfiguration: source.selfConfiguration,
    poll,
    watch: () => {
      timer ??= setInterval(() => void poll(), pollIntervalMs).unref();
    },
    close: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      clearTimeout(moment);
      secrets.close();
      await poll.settled();
    },
  };
}

/** Commands are run for it, and its files read, by a book of its own. */
async function sketchCatalogue(parts: Parts, channel: DeclaredChannel): Promise<BuiltCatalogue> {
  const secrets = openSecrets(parts);
  try {
    const stored = await parts.store.load();
    const channels = [{ ...channel, source: 'console' as const }];
    const store = {
      load: () =>
        Promise.resolve({ ...stored, channels, models: [], keys: [], webhooks: [], signingSecrets: [] }),
    };
    return await loadCatalogue({ ...parts, store, secrets }, true);
  } finally {
    secrets.close();
  }
}

/** Tells if the store, or what is known of models, has changed since the snapshot was made, or the time of a price has come. */
async function isOutdated(
  { store, clock, catalogueFiles }: Parts,
  { catalogue, steady }: BuiltCatalogue,
  book: ModelBook,
): Promise<boolean> {
  if ((await store.revision()) !== catalogue.revision || catalogueFiles.models() !== book) return true;
  // A clock that was set back finds the price before the one it had found.
  const nowMs = clock.now();
  return nowMs >= (steady.untilMs ?? Number.POSITIVE_INFINITY) || nowMs < (steady.fromMs ?? 0);
}

/** The same failure four times a second would hide all others. */
function toldOnce(logger: Logger, look: () => Promise<void>): () => Promise<void> {
  let failure: string | null = null;
  return async () => {
    try {
      await look();
      failure = null;
    } catch (error) {
      if (String(error) !== failure)
        logger.error('configuration could not be read; what was in force stays', { error });
      failure = String(error);
    }
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
  const reason = applied.error.map(describeProblem).join('; ');
  parts.alerts.raise('configuration-refused', { file: file.path, reason });
  for (const problem of applied.error)
    parts.logger.error(`configuration refused: ${describeProblem(problem)}`, { file: file.path });
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
