import type { UpstreamExchange, UpstreamFailure, UpstreamHandler } from '../ports/upstream-client.ts';

const nothingUnderWay: UpstreamExchange = { pause() {}, resume() {}, abort() {} };

/** Ends a request before anything was done for it; the handler hears of it after `send` has returned. */
export function refuseRequest(handler: UpstreamHandler, failure: UpstreamFailure): UpstreamExchange {
  setImmediate(() => handler.onFailure(failure));
  return nothingUnderWay;
}
