import { fail, protocols, type Result, succeed } from '@headgate/protocols';
import { LazySimulator } from '@headgate/simulator';
import { channelsWithoutCredential, standingAlerts } from './admin/catalogue-alerts.ts';
import { channelStatuses } from './admin/channel-status.ts';
import { type ConfigurationService, openConfigurationService } from './admin/configuration-service.ts';
import { fillHistoryBehind } from './admin/fill-demo-history.ts';
import { openLive } from './admin/live/open-live.ts';
import { openProber, openRouter } from './admin/open-router.ts';
import { type OpenedStatus, openStatus } from './admin/open-status.ts';
import { makeDataDirectory, type OwnerTokens, openOwnerTokens, storeFile } from './admin/owner-files.ts';
import { readSignInSettings, type SignInSettings } from './admin/people/open-stronger.ts';
import { firstToken } from './admin/people/set-up.ts';
import { recover } from './admin/recovery.ts';
import type { SelfConfiguration } from './admin/self-configuration.ts';
import { cannotRestart, type Restart } from './admin/serving.ts';
import { type LayeredSettings, withoutConsole } from './admin/settings/layered-settings.ts';
import { leftOutAlert, tellLeftOut } from './admin/settings/left-out-alerts.ts';
import { RunningSettings } from './admin/settings/running-settings.ts';
import { HangUps } from './call/detours/hang-up.ts';
import { WaitingRoom } from './call/detours/wait.ts';
import { AnswerLengths } from './call/hold/usual-outputs.ts';
import { alertBug } from './call/outcomes.ts';
import { Watchdog } from './call/watchdog.ts';
import type { BuiltCatalogue } from './catalogue/build.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { Wires } from './catalogue/wire.ts';
import { callLimits } from './config/call-limits.ts';
import type { ConfigurationFile } from './config/configuration-file.ts';
import { apiLimits, clientLimits, consoleLimits } from './config/port-limits.ts';
import type { ConfigurationProblem } from './config/yaml-source.ts';
import type { Environment, Settings } from './config.ts';
import { endStale } from './events/end-stale.ts';
import { countedAlerts, type Events, openEvents } from './events/open-events.ts';
import { type Api, startApi, sweepOften } from './http/api.ts';
import { CallerAddresses } from './http/caller-address.ts';
import { Callers } from './http/callers.ts';
import { openConsole } from './http/console/open-console.ts';
import { consoleOrigins } from './http/cors.ts';
import { type Departure, traceIds } from './http/exchange.ts';
import type { ListeningSocket } from './http/listening.ts';
import { MemoryBudget } from './http/memory.ts';
import { Repeats } from './http/repeats.ts';
import { ReportDesk } from './http/report-desk.ts';
import { Slices } from './http/slices.ts';
import { Limits } from './limits/limits.ts';
import type { Clock } from './ports/clock.ts';
import type { EventSink } from './ports/events.ts';
import type { Gateway } from './ports/gateway.ts';
import type { Observer } from './ports/observer.ts';
import type { Store } from './ports/store.ts';
import type { Upstream } from './ports/upstream.ts';
import type { Router } from './route/router.ts';
import { type OpenLane, openSqliteStore } from './store/sqlite/open-sqlite-store.ts';
import { createCallObserver } from './telemetry/call-observer.ts';
import { tellLedgerAlarm } from './telemetry/ledger-alarms.ts';
import { LiveSecrets } from './telemetry/live-secrets.ts';
import { type Log, openLog } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { WorkerTokenCounter } from './tokens/worker-token-counter.ts';
import { WorkerTranslator } from './translation/worker-translator.ts';
import { openWeb } from './upstream/ask-web.ts';
import { openUpstream } from './upstream/channels.ts';
import { HttpClient } from './upstream/client.ts';
import { openMediaFetcher } from './upstream/media.ts';

/** Time-outs are exact to this. */
const sweepIntervalMs = 100;
/** Leases are looked after so often. */
const limitsIntervalMs = 25;
/** Calls that wait until a channel may be asked; those that come when it is full are told when to come back. */
const waitingCallsMax = 200;
/** After the drain time-out: for calls that have just been ended to say so, and to be written. */
const lastWordsMs = 1000;

/** A gateway that serves. */
export interface RunningGateway {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly selfConfiguration: SelfConfiguration;
  /** Lets the first operator of the console be made; null where there are people already. */
  readonly setUpToken: string | null;
  readonly catalogue: { readonly current: Catalogue };
  readonly log: Log;
  readonly store: Store;
  /** Its sockets, for a process that goes on in its place; null where they cannot be given away. All it has learned is saved first. */
  lend(): Promise<Sockets | null>;
  /** Takes no new connections, as another process does. Each call that comes on an open one, or runs, has all its time. */
  retire(): Promise<void>;
  /** Takes no new calls, lets running ones finish within the drain time-out, writes the ledger and lets go of everything. */
  stop(): Promise<void>;
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** The sockets of both ports. */
export type Sockets = Readonly<Record<'api' | 'console', ListeningSocket>>;

/** A start may be given these. */
export interface StartOptions {
  /** The configuration file, where it was read for the settings. */
  readonly file?: ConfigurationFile | null;
  /** The settings with where each is made; those of nobody but the caller if left out. */
  readonly layers?: LayeredSettings;
  /** The ones of a process that this one goes on for. */
  readonly sockets?: Partial<Sockets>;
  /** Puts a new process in the place of this one. */
  readonly restart?: Restart;
  /** Lanes of tests in the place of threads. */
  readonly openLane?: OpenLane;
  /** The file that the log goes to; standard error if left out. */
  readonly logFile?: string;
}

/** Puts the parts together and starts them. Fails when the configuration is not valid; rejects when a port is taken. */
export async function startGateway(
  startedWith: Settings,
  environment: Environment,
  given: StartOptions = {},
): Promise<Result<RunningGateway, readonly ConfigurationProblem[]>> {
  const runningSettings = new RunningSettings(given.layers ?? withoutConsole(startedWith), environment);
  const settings = runningSettings.inForce;
  makeDataDirectory(settings.dataDir);
  // All that was opened is let go of again when a part after it cannot be, and at the end, the last one first.
  await using opened = new AsyncDisposableStack();
  const log = openProcessLog(settings, given);
  opened.defer(() => log.sink.flush());
  const simulator = opened.adopt(new LazySimulator(), (worker) => worker.close());
  const memory = new MemoryBudget(settings.memoryBytesMax);
  const metrics = createMetrics({ ledgerQueued: () => store.ledger.waiting, bytesHeld: () => memory.taken });
  const events = openEvents({
    ...{ log, metrics, clock: systemClock, newId: traceIds(systemClock.now), uniform: Math.random },
    deployment: () => settings.deploymentName,
    client: new HttpClient({ connectTimeoutMs: settings.connectTimeoutMs }),
  });
  const store = opened.adopt(await openStore(settings, log, metrics, events, given), (it) => it.close());
  events.keepIn(store);
  opened.defer(() => events.close());
  await recover(store, log.logger, systemClock);
  // Before anything listens: what cannot be written down is not to be served.
  await store.prepare();
  await runningSettings.refresh(store.configuration);
  tellLeftOut(runningSettings, log.logger, events);
  const tokens = openOwnerTokens(settings.dataDir);
  if (!tokens.ok) return fail([{ where: settings.dataDir, path: '', message: tokens.error }]);
  const live = new LiveSecrets();
  const options = {
    settings,
    environment,
    store: store.configuration,
    clock: systemClock,
    logger: log.logger,
    alerts: countedAlerts(events, metrics),
    variable: (name: string) => (name === 'simulator' ? simulator.origin() : Promise.resolve(null)),
    onCatalogue: ({ catalogue, problems, webhooks }: BuiltCatalogue) => {
      const { operator, scrape } = tokens.value;
      log.sink.setSecrets([operator, scrape, ...live.take(catalogue, webhooks)]);
      events.useWebhooks(webhooks);
      metrics.service.lacksCredentials(channelsWithoutCredential(problems));
      runningSettings.follow(store.configuration, log.logger);
    },
  };
  const configuration = await openConfigurationService(options, given.file);
  if (!configuration.ok) return configuration;
  opened.defer(() => configuration.value.close());
  const looking = openLive({ store, metrics, ...configuration.value, clock: systemClock }, opened);
  const signIn = readSignInSettings(settings);
  if (!signIn.ok) return signIn;
  const told = { settings, store, configuration: configuration.value, clock: systemClock };
  const status = openStatus({ ...told, logger: log.logger }, opened);
  const observer = createCallObserver({
    ...{ log, metrics, events, live: looking, status: status.keeper },
    ...{ clock: systemClock, settings },
    onRefused: configuration.value.credentialRefused,
  });
  const parts = {
    ...{ settings, log, memory, metrics, store, events, status, live: looking },
    configuration: configuration.value,
    observer,
    ...{ tokens: tokens.value, signIn: signIn.value, runningSettings, environment },
    sockets: given.sockets ?? {},
    restart: given.restart ?? cannotRestart,
  };
  return succeed(await serve(parts, opened));
}

/** Standard output belongs to what the command was asked to print. */
const standardError = 2;

function openProcessLog({ logLevel: level, logFormat: wanted }: Settings, { logFile }: StartOptions): Log {
  const format = wanted === 'auto' ? (process.stderr.isTTY ? 'pretty' : 'json') : wanted;
  return openLog({ level, format, destination: logFile ?? standardError });
}

function openStore(
  settings: Settings,
  log: Log,
  metrics: Metrics,
  events: EventSink,
  given: StartOptions,
): Promise<Store> {
  return openSqliteStore({
    openLane: given.openLane,
    file: storeFile(settings.dataDir),
    durability: settings.ledgerDurability,
    clock: systemClock,
    onCommit: metrics.ledgerCommitted,
    onAlarm: (alarm) => tellLedgerAlarm(alarm, log, metrics, events),
  });
}

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly memory: MemoryBudget;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly configuration: ConfigurationService;
  readonly events: Events;
  readonly status: OpenedStatus;
  readonly live: ReturnType<typeof openLive>;
  readonly observer: Observer;
  readonly tokens: OwnerTokens;
  readonly signIn: SignInSettings;
  readonly runningSettings: RunningSettings;
  readonly environment: Environment;
  readonly sockets: Partial<Sockets>;
  readonly restart: Restart;
}

/** Opens the ports, and takes over what was opened until then when nothing can go wrong any more. */
async function serve(parts: Parts, opened: AsyncDisposableStack): Promise<RunningGateway> {
  const { settings, log, store, configuration, events, status, tokens } = parts;
  const { router, keeper } = await openRouter({ ...parts, clock: systemClock }, opened);
  const client = opened.adopt(new HttpClient(clientLimits(settings)), (it) => it.close());
  const upstream = openUpstream(client);
  const gateway = openGateway(parts, router, upstream, opened);
  const prober = openProber(gateway, router, settings.idleProbeMs, opened);
  const departure = {
    ...{ isStarting: true, isLeaving: false, isDraining: false },
    ...{ apiOrigin: '', consoleOrigin: '' },
  };
  // The port of callers comes last: where a socket was lent, calls come from then on, and nothing may fail any more.
  const console = opened.adopt(
    await openConsole(
      { ...parts, router, upstream, askWeb: openWeb(client), clock: systemClock, holds: gateway.holds },
      { ...consoleLimits(settings), socket: parts.sockets.console },
      departure,
      (error) => alertBug(error, 'console', parts.observer),
    ),
    (it) => it.close(),
  );
  departure.consoleOrigin = console.origin;
  const origins = [...consoleOrigins(settings.consoleOrigin, console.origin), ...settings.corsOrigins];
  const api = opened.adopt(await openApi(parts, gateway, departure, origins), (it) => it.close());
  departure.apiOrigin = settings.apiOrigin ?? api.origin;
  followSettings(parts, departure, api);
  opened.defer(sweepOften(gateway.watchdog, systemClock, sweepIntervalMs));
  status.start({ apiOrigin: api.origin, consoleOrigin: console.origin }, prober);
  configuration.watch();
  const everything = opened.move();
  let letGo: Promise<void> | null = null;
  const letGoOnce = () => (letGo ??= everything.disposeAsync());
  departure.isStarting = false;
  if (settings.demoHistory) fillHistoryBehind({ ...parts, clock: systemClock }, everything);
  void endStale(store.events, events, standing(parts, router));
  return {
    apiOrigin: api.origin,
    consoleOrigin: console.origin,
    selfConfiguration: configuration.selfConfiguration,
    setUpToken: await firstToken(store, tokens.operator, systemClock.now()),
    catalogue: configuration.catalogue,
    log,
    store,
    lend: async () => {
      await keeper.saveAll();
      return api.socket === null || console.socket === null
        ? null
        : { api: api.socket, console: console.socket };
    },
    retire: async () => {
      departure.isLeaving = true;
      prober.stop();
      // The other process has newer news from now on.
      await keeper.close();
      console.retire();
      await api.retire(settings.idleTimeoutMs + settings.callTimeoutMs + lastWordsMs);
      await letGoOnce();
    },
    stop: async () => {
      departure.isLeaving = true;
      departure.isDraining = true;
      prober.stop();
      gateway.watchdog.endsAt = systemClock.monotonic() + settings.drainTimeoutMs;
      await api.drain(settings.drainTimeoutMs + lastWordsMs);
      await letGoOnce();
    },
  };
}

/** Takes up settings that change at once where somebody has to be told; all others are read when they are needed. */
function followSettings(
  { settings, runningSettings, log, status }: Parts,
  departure: { apiOrigin: string },
  api: { readonly origin: string },
): void {
  runningSettings.onChange(() => {
    departure.apiOrigin = settings.apiOrigin ?? api.origin;
    log.setLevel(settings.logLevel);
    status.keeper.changed();
  });
}

/** All that is to be told of as a process begins, so that whatever else earlier ones have told of is over. */
function standing({ configuration, runningSettings }: Parts, router: Router) {
  const statuses = channelStatuses(configuration.catalogue.current, router, systemClock.now());
  return [...standingAlerts(configuration.problems, statuses), ...runningSettings.leftOut.map(leftOutAlert)];
}

function openGateway(
  { settings, store, configuration, observer }: Parts,
  router: Router,
  upstream: Upstream,
  opened: AsyncDisposableStack,
): Gateway {
  const { connectTimeoutMs } = settings;
  const watchdog = new Watchdog(systemClock);
  const lost = (thread: string) => (why: string) => observer.alert('thread-lost', { thread, why });
  const tokens = new WorkerTokenCounter(lost('token counter'));
  const translator = new WorkerTranslator(lost('translator'));
  return {
    catalogue: configuration.catalogue,
    protocols,
    router,
    ledger: store.ledger,
    holds: openLimits(store, observer, opened),
    usualOutputs: new AnswerLengths(),
    wires: new Wires(protocols, upstream),
    media: openMediaFetcher({
      openClient: () => new HttpClient({ connectTimeoutMs }),
      allowPrivate: settings.mediaAllowPrivate,
    }),
    tokens: opened.adopt(tokens, (counter) => counter.close()),
    translator: opened.adopt(translator, (thread) => thread.close()),
    observer,
    watchdog,
    waitingRoom: new WaitingRoom(watchdog, systemClock, waitingCallsMax),
    hangUps: opened.adopt(new HangUps(settings.hangUpsMax), (hangUps) => hangUps.close()),
    clock: systemClock,
    limits: callLimits(settings),
    unpricedTerms: settings.unpricedTerms,
  };
}

/** They are given back once no call can take any more, and before the store closes. */
function openLimits(store: Store, observer: Observer, opened: AsyncDisposableStack): Limits {
  const limits = new Limits({ store: store.leases, clock: systemClock, observer, nextTurn: setImmediate });
  opened.defer(() => limits.close());
  const ticking = setInterval(() => limits.tick(), limitsIntervalMs);
  opened.defer(() => clearInterval(ticking));
  return limits;
}

function openApi(
  { settings, memory, store, configuration, sockets }: Parts,
  gateway: Gateway,
  departure: Departure,
  corsOrigins: readonly string[],
): Promise<Api> {
  const slices = new Slices();
  return startApi(
    { ...apiLimits(settings), socket: sockets.api },
    {
      gateway,
      repeats: new Repeats({ claims: store.claims, store, now: systemClock.now, slices }),
      slices,
      reports: new ReportDesk({ reports: store.reports, holds: gateway.holds }, systemClock),
      callers: new Callers(configuration.catalogue, configuration.hashKey, configuration.isInStep),
      addresses: new CallerAddresses(settings.trustedProxies),
      random: { next: Math.random, traceId: traceIds(systemClock.now) },
      bodyBytesMax: settings.bodyBytesMax,
      memory,
      corsOrigins: new Set(corsOrigins),
      departure,
    },
  );
}
