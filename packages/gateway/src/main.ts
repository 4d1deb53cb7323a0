import { fail, protocols, type Result, succeed } from '@headgate/protocols';
import { type SimulatorWorker, startSimulatorWorker } from '@headgate/simulator';
import { type ConfigurationService, openConfigurationService } from './admin/configuration-service.ts';
import { explainRoute, plannerOptions } from './admin/explain-route.ts';
import { makeDataDirectory, type OwnerTokens, openOwnerTokens, storeFile } from './admin/owner-files.ts';
import type { SelfConfiguration } from './admin/self-configuration.ts';
import { WaitingRoom } from './call/detours/wait.ts';
import { alertBug } from './call/outcomes.ts';
import { Watchdog } from './call/watchdog.ts';
import type { CatalogueProblem } from './catalogue/build.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { Wires } from './catalogue/wire.ts';
import type { ConfigurationFile } from './config/configuration-file.ts';
import type { ConfigurationProblem } from './config/yaml-source.ts';
import type { Environment, Settings } from './config.ts';
import { type Api, startApi } from './http/api.ts';
import { Callers } from './http/callers.ts';
import { startConsole } from './http/console/console-server.ts';
import type { RouteSources } from './http/console/route-api.ts';
import { traceIds } from './http/exchange.ts';
import { MemoryBudget } from './http/memory.ts';
import type { Clock } from './ports/clock.ts';
import type { Gateway } from './ports/gateway.ts';
import type { Observer } from './ports/observer.ts';
import type { Damage, Store } from './ports/store.ts';
import type { Upstream } from './ports/upstream.ts';
import { Prober } from './route/prober.ts';
import { Router } from './route/router.ts';
import { StateKeeper } from './route/saved.ts';
import { type OpenLane, openSqliteStore } from './store/sqlite/open-sqlite-store.ts';
import { createCallObserver } from './telemetry/call-observer.ts';
import { LiveSecrets } from './telemetry/live-secrets.ts';
import { type Log, openLog } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { WorkerTokenCounter } from './tokens/worker-token-counter.ts';
import { openUpstream } from './upstream/channels.ts';
import { HttpClient } from './upstream/client.ts';
import { openMediaFetcher } from './upstream/media.ts';

/** Time-outs are exact to this. */
const sweepIntervalMs = 100;
const probeIntervalMs = 1000;
/** A process that is killed loses so much of what its router has learned. */
const saveIntervalMs = 1000;
/** How often it is said how far the replay of a journal is. */
const progressIntervalMs = 1000;
/** A call that lives longer gets its `open` row (ledger.md, "Order of events"). */
const openRowAfterMs = 250;
/** Calls that wait until a channel may be asked; those that come when it is full are told when to come back. */
const waitingCallsMax = 200;
/** After the drain time-out: for calls that have just been ended to say so, and to be written. */
const lastWordsMs = 1000;

/** A gateway that serves. */
export interface RunningGateway {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly selfConfiguration: SelfConfiguration;
  readonly catalogue: { readonly current: Catalogue };
  readonly log: Log;
  readonly store: Store;
  /** Takes no new calls, lets running ones finish within the drain time-out, writes the ledger and lets go of everything. */
  stop(): Promise<void>;
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Parts that tests replace. */
export interface ReplacedParts {
  readonly openLane?: OpenLane;
  /** The file that the log goes to; standard error if left out. */
  readonly logFile?: string;
}

/**
 * Puts the parts together and starts them. `file`: the configuration file, where it was read for the settings. Fails when the configuration is not valid; rejects when a port is taken.
 */
export async function startGateway(
  settings: Settings,
  environment: Environment,
  replaced: ReplacedParts = {},
  file: ConfigurationFile | null = null,
): Promise<Result<RunningGateway, readonly ConfigurationProblem[]>> {
  makeDataDirectory(settings.dataDir);
  // All that was opened is let go of again when a part after it cannot be, and at the end, the last one first.
  await using opened = new AsyncDisposableStack();
  const log = openLog({
    level: settings.logLevel,
    format: logFormat(settings),
    destination: replaced.logFile ?? standardError,
  });
  opened.defer(() => log.sink.flush());
  const simulator = opened.adopt(new LazySimulator(), (worker) => worker.close());
  const memory = new MemoryBudget(settings.memoryBytesMax);
  const metrics = createMetrics({ ledgerQueued: () => store.ledger.waiting, bytesHeld: () => memory.taken });
  const store = opened.adopt(await openStore(settings, log, metrics, replaced), (it) => it.close());
  await recover(store, log);
  const tokens = openOwnerTokens(settings.dataDir);
  if (!tokens.ok) return fail([{ where: settings.dataDir, path: '', message: tokens.error }]);
  const live = new LiveSecrets();
  const options = {
    settings,
    environment,
    store: store.configuration,
    clock: systemClock,
    logger: log.logger,
    onAlert: metrics.alertRaised,
    variable: (name: string) => (name === 'simulator' ? simulator.origin() : Promise.resolve(null)),
    onCatalogue: (catalogue: Catalogue, problems: readonly CatalogueProblem[]) => {
      log.sink.setSecrets([tokens.value.operator, tokens.value.scrape, ...live.take(catalogue)]);
      metrics.service.lacksCredentials(problems.flatMap(channelWithout));
    },
  };
  const configuration = await openConfigurationService(options, file);
  if (!configuration.ok) return configuration;
  opened.defer(() => configuration.value.close());
  const { callLog: logsCalls } = settings;
  const onRefused = configuration.value.credentialRefused;
  const observer = createCallObserver({ log, metrics, clock: systemClock, logsCalls, onRefused });
  const parts = {
    settings,
    log,
    memory,
    metrics,
    store,
    configuration: configuration.value,
    observer,
    tokens: tokens.value,
  };
  return succeed(await serve(parts, opened));
}

/** Standard output belongs to what the command was asked to print. */
const standardError = 2;

function logFormat({ logFormat: format }: Settings): 'json' | 'pretty' {
  return format === 'auto' ? (process.stderr.isTTY ? 'pretty' : 'json') : format;
}

/** Starts the demo's upstream when a channel first needs it, in a thread of its own. */
class LazySimulator {
  #worker: Promise<SimulatorWorker> | null = null;

  async origin(): Promise<string> {
    this.#worker ??= startSimulatorWorker();
    return (await this.#worker).origin;
  }

  async close(): Promise<void> {
    await (await this.#worker)?.close();
  }
}

function openStore(settings: Settings, log: Log, metrics: Metrics, replaced: ReplacedParts): Promise<Store> {
  return openSqliteStore({
    openLane: replaced.openLane,
    file: storeFile(settings.dataDir),
    durability: settings.ledgerDurability,
    clock: systemClock,
    onCommit: metrics.ledgerCommitted,
    onAlarm: ({ kind, traceId, detail }) => {
      if (kind === 'conflict') metrics.alertRaised('ledger-conflict');
      log.logger.error('ledger alarm', {
        alert: kind,
        reason: detail,
        ...(traceId === null ? {} : { traceId }),
      });
    },
  });
}

/** The channel that a problem takes a credential from. */
function channelWithout({ kind, subject }: CatalogueProblem): readonly string[] {
  return kind === 'missing-credential' ? [subject] : [];
}

/** Takes over what earlier processes have left, before anything is served. Rejects when it cannot be read. */
async function recover(store: Store, log: Log): Promise<void> {
  let toldAt = systemClock.monotonic();
  const { lines, interrupted, damage } = await store.recover((count) => {
    if (systemClock.monotonic() - toldAt < progressIntervalMs) return;
    toldAt = systemClock.monotonic();
    log.logger.info('the journal of an earlier process is being replayed', { count });
  });
  if (damage !== null) throw new DamagedJournalError(damage);
  if (lines > 0) log.logger.info('the journal of an earlier process was replayed', { count: lines });
  if (interrupted > 0)
    log.logger.warn('calls of an earlier process were cut off; they are unbilled', { count: interrupted });
}

/** Nothing behind the damage is in the store, so serving would hide that entries are missing. */
class DamagedJournalError extends Error {
  readonly code = 'DAMAGED_JOURNAL';

  constructor({ file, offset, detail }: Damage) {
    super(
      `the journal is damaged: ${file}, byte ${offset}: ${detail}. Put the file back from a copy, or run \`headgate ledger salvage\` to go on with what can still be read`,
    );
  }
}

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly memory: MemoryBudget;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly configuration: ConfigurationService;
  readonly observer: Observer;
  readonly tokens: OwnerTokens;
}

/** Opens the ports, and takes over what was opened until then when nothing can go wrong any more. */
async function serve(parts: Parts, opened: AsyncDisposableStack): Promise<RunningGateway> {
  const { settings, log, store, configuration } = parts;
  const router = await openRouter(parts, opened);
  const client = openClient(settings, opened);
  const upstream = openUpstream(client);
  const gateway = openGateway(parts, router, upstream, opened);
  const prober = openProber(gateway, router, settings.idleProbeMs, opened);
  const state = { draining: false };
  const isDraining = () => state.draining;
  const api = opened.adopt(await openApi(parts, gateway, isDraining), (it) => it.close());
  const console = opened.adopt(await openConsole(parts, router, isDraining), (it) => it.close());
  const sweeping = setInterval(() => gateway.watchdog.sweep(), sweepIntervalMs);
  opened.defer(() => clearInterval(sweeping));
  configuration.watch();
  const everything = opened.move();
  return {
    apiOrigin: api.origin,
    consoleOrigin: console.origin,
    selfConfiguration: configuration.selfConfiguration,
    catalogue: configuration.catalogue,
    log,
    store,
    stop: async () => {
      state.draining = true;
      prober.stop();
      gateway.watchdog.endsAt = systemClock.monotonic() + settings.drainTimeoutMs;
      await api.drain(settings.drainTimeoutMs + lastWordsMs);
      await everything.disposeAsync();
    },
  };
}

/** The router, with what an earlier process has learned, which a later one will hear of. */
async function openRouter(
  { settings, store, configuration, observer }: Parts,
  opened: AsyncDisposableStack,
): Promise<Router> {
  const router = new Router({
    ...plannerOptions(settings, configuration.hashCredential),
    uniform: Math.random,
    onService: ({ channel, upstreamModel }, change) =>
      observer.serviceChanged(change, channel.id, upstreamModel),
  });
  const keeper = new StateKeeper(router, store.routerStates, systemClock);
  await keeper.restore();
  opened.defer(() => keeper.close());
  const saving = setInterval(() => void keeper.save(), saveIntervalMs);
  opened.defer(() => clearInterval(saving));
  return router;
}

function openProber(gateway: Gateway, router: Router, idleMs: number, opened: AsyncDisposableStack): Prober {
  const prober = new Prober({ gateway, router, idleMs });
  const probing = setInterval(() => prober.tick(), probeIntervalMs);
  opened.defer(() => {
    clearInterval(probing);
    prober.stop();
  });
  return prober;
}

function openGateway(
  { settings, store, configuration, observer }: Parts,
  router: Router,
  upstream: Upstream,
  opened: AsyncDisposableStack,
): Gateway {
  const { connectTimeoutMs } = settings;
  const tokens = opened.adopt(new WorkerTokenCounter(), (counter) => counter.close());
  const watchdog = new Watchdog(systemClock);
  return {
    catalogue: configuration.catalogue,
    protocols,
    router,
    ledger: store.ledger,
    wires: new Wires(protocols, upstream),
    media: openMediaFetcher({
      openClient: () => new HttpClient({ connectTimeoutMs }),
      allowPrivate: settings.mediaAllowPrivate,
    }),
    tokens,
    observer,
    watchdog,
    waitingRoom: new WaitingRoom(watchdog, systemClock, waitingCallsMax),
    clock: systemClock,
    limits: callLimits(settings),
  };
}

function openClient(settings: Settings, opened: AsyncDisposableStack): HttpClient {
  const client = new HttpClient({
    connectTimeoutMs: settings.connectTimeoutMs,
    idleTimeoutMs: settings.upstreamIdleTimeoutMs,
    maxConnections: settings.upstreamConnectionsMax,
  });
  opened.defer(() => client.close());
  return client;
}

function callLimits(settings: Settings): Gateway['limits'] {
  return {
    firstContentMs: settings.firstContentTimeoutMs,
    firstContentReasoningMs: settings.firstContentReasoningTimeoutMs,
    wholeAnswerMs: settings.wholeAnswerTimeoutMs,
    stallMs: settings.stallTimeoutMs,
    keepAliveMs: settings.keepAliveMs,
    callMs: settings.callTimeoutMs,
    attemptsMax: settings.attemptsMax,
    answerBytesMax: settings.answerBytesMax,
    frameBytesMax: settings.frameBytesMax,
    openRowAfterMs,
  };
}

function openApi(
  { settings, memory, store, configuration }: Parts,
  gateway: Gateway,
  isDraining: () => boolean,
): Promise<Api> {
  return startApi(
    {
      host: settings.apiHost,
      port: settings.apiPort,
      headerBytesMax: settings.headerBytesMax,
      keepAliveMs: settings.idleTimeoutMs,
      headersMs: settings.headersTimeoutMs,
      bodyMs: settings.bodyTimeoutMs,
      connectionsMax: settings.connectionsMax,
      lane: settings.http,
    },
    {
      gateway,
      reports: store.reports,
      callers: new Callers(configuration.catalogue, configuration.hashKey),
      random: { next: Math.random, traceId: traceIds(systemClock.now) },
      bodyBytesMax: settings.bodyBytesMax,
      memory,
      corsOrigins: new Set(settings.corsOrigins),
      isDraining,
    },
  );
}

function openConsole(parts: Parts, router: Router, isDraining: () => boolean) {
  const { settings, store, metrics, observer, tokens } = parts;
  return startConsole({
    host: settings.consoleHost,
    port: settings.consolePort,
    unreadyReasons: () => [
      ...(isDraining() ? (['draining'] as const) : []),
      ...(store.ledger.isWritable() ? [] : (['store-not-writable'] as const)),
    ],
    exposeMetrics: () => metrics.expose(),
    consoleOrigin: settings.consoleOrigin,
    tokens,
    routes: routeSources(parts, router),
    onBug: (error) => alertBug(error, 'console', observer),
  });
}

function routeSources({ store, configuration }: Parts, router: Router): RouteSources {
  return {
    explainRoute: (question) => {
      const catalogue = configuration.catalogue.current;
      return explainRoute(question, { catalogue, router, nowMs: systemClock.now() });
    },
    findEntry: store.findEntry,
  };
}
