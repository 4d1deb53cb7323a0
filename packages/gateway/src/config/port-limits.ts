import type { Settings } from '../config.ts';

/** The port of callers, and the bounds of what they send. */
export function apiLimits(settings: Settings) {
  return {
    host: settings.apiHost,
    port: settings.apiPort,
    headerBytesMax: settings.headerBytesMax,
    keepAliveMs: settings.idleTimeoutMs,
    headersMs: settings.headersTimeoutMs,
    bodyMs: settings.bodyTimeoutMs,
    connectionsMax: settings.connectionsMax,
    lane: settings.http,
  };
}

/** The same for operators. */
export function consoleLimits(settings: Settings) {
  return {
    host: settings.consoleHost,
    port: settings.consolePort,
    headersMs: settings.headersTimeoutMs,
    bodyMs: settings.bodyTimeoutMs,
    consoleOrigin: settings.consoleOrigin,
  };
}

/** The bounds of connections to upstreams. */
export function clientLimits(settings: Settings) {
  return {
    connectTimeoutMs: settings.connectTimeoutMs,
    idleTimeoutMs: settings.upstreamIdleTimeoutMs,
    maxConnections: settings.upstreamConnectionsMax,
  };
}
