import type { Settings } from '../config.ts';
import type { CallLimits } from '../ports/gateway.ts';

/** A call that lives longer gets its `open` row (ledger.md, "Order of events"). */
const openRowAfterMs = 250;

/** The bounds of every call, as the settings have them. */
export function callLimits(settings: Settings): CallLimits {
  return {
    firstContentMs: settings.firstContentTimeoutMs,
    firstContentReasoningMs: settings.firstContentReasoningTimeoutMs,
    wholeAnswerMs: settings.wholeAnswerTimeoutMs,
    stallMs: settings.stallTimeoutMs,
    keepAliveMs: settings.keepAliveMs,
    callMs: settings.callTimeoutMs,
    hangUpMs: settings.hangUpTimeoutMs,
    attemptsMax: settings.attemptsMax,
    answerBytesMax: settings.answerBytesMax,
    frameBytesMax: settings.frameBytesMax,
    openRowAfterMs,
  };
}
