import { randomUUIDv7 } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fail, protocols, type Result, succeed } from '@headgate/protocols';
import { type SimulatorWorker, startSimulatorWorker } from '@headgate/simulator';
import { type ConfigurationService, openConfigurationService } from './admin/configuration-service.ts';
import type { SelfConfiguration } from './admin/self-configuration.ts';
import type { ConfigurationProblem } from './config/problem.ts';
import type { Environment, Settings } from './config.ts';
import type { Catalogue } from './core/catalogue.ts';
import { cheapestHealthy } from './core/route/cheapest-healthy.ts';
import { startConsole } from './http/console/console-server.ts';
import { type DataPlane, startDataPlane } from './http/data-plane/data-plane.ts';
import type { Gateway } from './pipeline/gateway.ts';
import { Watchdog } from './pipeline/watchdog.ts';
import type { Clock } from './ports/clock.ts';
import type { Random } from './ports/random.ts';
import type { Store } from './ports/store.ts';
import { openSqliteStore } from './store/sqlite/open-sqlite-store.ts';
import { createCallObserver } from './telemetry/call-observer.ts';
import { type Log, openLog } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { openChannelUpstream } from './upstream/channel-upstream.ts';
import { openHttp1Client } from './upstream/http1-client.ts';

/** Time-outs are exact to this. */
const sweepIntervalMs = 100;
/** A call that lives longer gets its `open` row (ledger.md, "Order of events"). */
const openRowAfterMs = 250;
/** How long a failed target is put behind the healthy ones. */
const coolDownMs = 5000;
const databaseFile = 'headgate.sqlite';

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

const systemRandom: Random = {
  next: () => Math.random(),
  traceId: () => randomUUIDv7().replaceAll('-', ''),
};

/** Puts the parts together and starts them. Fails when the configuration is not valid; rejects when a port is taken. */
export async function startGateway(
  settings: Settings,
  environment: Environment,
): Promise<Result<RunningGateway, readonly ConfigurationProblem[]>> {
  mkdirSync(settings.dataDir, { recursive: true });
  const log = openLog({ level: settings.logLevel, format: logFormat(settings), destination: standardError });
  const simulator = new LazySimulator();
  const store = await openStore(settings, log);
  const configuration = await openConfigurationService({
    settings,
    environment,
    store: store.configuration,
    clock: systemClock,
    logger: log.logger,
    variable: (name) => (name === 'simulator' ? simulator.origin() : Promise.resolve(null)),
  });
  if (!configuration.ok) {
    await store.close();
    await simulator.close();
    return fail(configuration.error);
  }
  return succeed(await serve({ settings, log, simulator, store, configuration: configuration.value }));
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

async function openStore(settings: Settings, log: Log): Promise<Store> {
  const store = await openSqliteStore({
    file: join(settings.dataDir, databaseFile),
    durability: settings.ledgerDurability,
    clock: systemClock,
    onAlarm: ({ kind, traceId, detail }) =>
      log.logger.error('ledger alarm', {
        alert: kind,
        reason: detail,
        ...(traceId === null ? {} : { traceId }),
      }),
  });
  const interrupted = await store.recoverInterrupted();
  if (interrupted > 0) {
    log.logger.warn('calls of an earlier process were cut off; they are unbilled', { count: interrupted });
  }
  return store;
}

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly simulator: LazySimulator;
  readonly store: Store;
  readonly configuration: ConfigurationService;
}

async function serve(parts: Parts): Promise<RunningGateway> {
  const { settings, log, store, configuration } = parts;
  const metrics = createMetrics({ ledgerQueued: () => 0 });
  const client = openHttp1Client({
    connectTimeoutMs: settings.connectTimeoutMs,
    idleTimeoutMs: settings.upstreamIdleTimeoutMs,
    maxConnections: settings.upstreamConnectionsMax,
  });
  const gateway: Gateway = {
    catalogue: configuration.catalogue,
    protocols,
    router: cheapestHealthy({ attemptsMax: settings.attemptsMax, coolDownMs }),
    ledger: store.ledger,
    upstream: openChannelUpstream(client),
    observer: createCallObserver(log, metrics, settings.callLog),
    watchdog: new Watchdog(systemClock),
    clock: systemClock,
    limits: callLimits(settings),
    unpricedModels: settings.unpricedModels,
  };
  const state = { draining: false };
  const dataPlane = await openDataPlane(parts, gateway, () => state.draining);
  const console = await openConsole(settings, store, metrics, () => state.draining);
  const sweeping = setInterval(() => gateway.watchdog.sweep(), sweepIntervalMs);
  configuration.watch();
  return {
    apiOrigin: dataPlane.origin,
    consoleOrigin: console.origin,
    selfConfiguration: configuration.selfConfiguration,
    catalogue: configuration.catalogue,
    log,
    store,
    stop: async () => {
      state.draining = true;
      gateway.watchdog.endsAt = systemClock.monotonic() + settings.drainTimeoutMs;
      await dataPlane.drain();
      await configuration.close();
      await store.close();
      clearInterval(sweeping);
      await Promise.all([dataPlane.close(), console.close(), client.close(), parts.simulator.close()]);
      await log.sink.flush();
    },
  };
}

function callLimits(settings: Settings): Gateway['limits'] {
  return {
    firstContentMs: settings.firstContentTimeoutMs,
    firstContentReasoningMs: settings.firstContentReasoningTimeoutMs,
    wholeAnswerMs: settings.wholeAnswerTimeoutMs,
    stallMs: settings.stallTimeoutMs,
    callMs: settings.callTimeoutMs,
    answerBytesMax: settings.answerBytesMax,
    openRowAfterMs,
  };
}

function openDataPlane(
  { settings, store, configuration }: Parts,
  gateway: Gateway,
  isDraining: () => boolean,
): Promise<DataPlane> {
  return startDataPlane(
    {
      host: settings.apiHost,
      port: settings.apiPort,
      headerBytesMax: settings.headerBytesMax,
      keepAliveMs: settings.callerIdleTimeoutMs,
      headersMs: settings.headersTimeoutMs,
      bodyMs: settings.bodyTimeoutMs,
      connectionsMax: settings.connectionsMax,
      corsOrigins: new Set(settings.corsOrigins),
    },
    {
      gateway,
      reports: store.reports,
      hashKey: configuration.hashKey,
      random: systemRandom,
      bodyBytesMax: settings.bodyBytesMax,
      isDraining,
    },
  );
}

function openConsole(settings: Settings, store: Store, metrics: Metrics, isDraining: () => boolean) {
  return startConsole({
    host: settings.consoleHost,
    port: settings.consolePort,
    unreadyReasons: () => [
      ...(isDraining() ? (['draining'] as const) : []),
      ...(store.ledger.isWritable() ? [] : (['store-not-writable'] as const)),
    ],
    exposeMetrics: () => metrics.expose(),
  });
}
