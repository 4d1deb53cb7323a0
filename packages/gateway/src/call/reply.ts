import {
  beginningOf,
  encodeError,
  errorTable,
  type Fault,
  type Loss,
  retryAfterSeconds,
  type StreamFraming,
  unreachable,
} from '@headgate/protocols';
import type { HeaderList, Reply } from '../ports/data-plane.ts';
import type { CallEnd } from './outcomes.ts';
import type { Call } from './request.ts';

/** More names than this would only say that the request has a general problem. */
const lossNamesMax = 40;
/** All of `x-headgate-losses`: some clients refuse an answer whose head is larger than 16 KiB, and names are the caller's own. */
const lossesCharsMax = 2048;

/**
 * The head of a whole answer. Nothing in it tells which channel gave it. Where an upstream calls its answer by a strange
 * name, ours is the one that libraries need to read it.
 */
export function wholeHeaders(contentType: string, attempts: number, losses: readonly Loss[]): HeaderList {
  const isNamed = contentType === 'application/json' || /json/i.test(contentType);
  return ['content-type', isNamed ? contentType : 'application/json', ...explanation(attempts, losses)];
}

/** The head of a stream, which proxies in front of us must neither store nor collect. */
export function streamHeaders(
  contentType: string,
  framing: StreamFraming,
  attempts: number,
  losses: readonly Loss[],
): HeaderList {
  const type = ['content-type', streamType(contentType, framing)];
  return [...type, ...explanation(attempts, losses), 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
}

function streamType(contentType: string, framing: StreamFraming): string {
  if (framing === 'json-array') return /json/i.test(contentType) ? contentType : 'application/json';
  return /event-stream/i.test(contentType) ? contentType : 'text/event-stream; charset=utf-8';
}

function explanation(attempts: number, losses: readonly Loss[]): HeaderList {
  const attempted = ['x-headgate-attempts', String(attempts)];
  if (losses.length === 0) return attempted;
  return [...attempted, 'x-headgate-losses', lossesHeader(namesOf(losses))];
}

/** As many of the names as there is room for, and how many more there are. */
function lossesHeader(names: readonly string[]): string {
  const written = names
    .slice(0, lossNamesMax)
    .map((name) => name.replaceAll(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent));
  const more = (told: number) => (told === names.length ? [] : [`and ${names.length - told} more`]);
  let told = written.length;
  let text = [...written, ...more(told)].join(', ');
  while (text.length > lossesCharsMax) {
    told--;
    text = [...written.slice(0, told), ...more(told)].join(', ');
  }
  return text;
}

/** The members of a request that were lost, each once and no more than a name of it, for the entry. */
export function lossNames(losses: readonly Loss[]): readonly string[] {
  return losses.length === 0 ? noNames : namesOf(losses).slice(0, lossNamesMax);
}

function namesOf(losses: readonly Loss[]): readonly string[] {
  return [...new Set(losses.map(({ field }) => beginningOf(field, 200)))];
}

const noNames: readonly string[] = [];

/**
 * Sends the end of a call, now that its entry is durable or its answer withheld. After the beginning of an answer a
 * failure can only be said in-band, and never looks like an end.
 */
export function sendFinish({ reply, protocol, request, inbound, attempts }: Call, finish: CallEnd): void {
  const { traceId } = inbound;
  switch (finish.kind) {
    case 'answered':
      // A sign of life may have begun an answer of which all else is still to be sent.
      if (reply.begun) reply.end(finish.bytes);
      else reply.send(200, finish.headers, finish.bytes);
      break;
    case 'failed':
      if (finish.begun) reply.breakOff(protocol.encodeStreamError(finish.fault, traceId, request.framing));
      else sendFault(finish.fault, attempts.length, traceId, reply);
      break;
    case 'caller-gone':
      // It may be there still and only have stopped reading.
      reply.abandon();
      break;
    default:
      unreachable(finish);
  }
}

/** Sends an error in the envelope of the surface, with the headers that tell SDKs whether to try again. */
export function sendFault(
  failure: Fault,
  attempts: number,
  traceId: string,
  reply: Reply,
  extra: readonly string[] = [],
): void {
  const { status, body } = encodeError(reply.platform, failure, traceId);
  const headers = [...faultHeaders(failure), ...extra];
  if (attempts > 0) headers.push('x-headgate-attempts', String(attempts));
  reply.send(status, headers, body);
}

/** SDKs come again within a minute, whatever they are told, or else wait for hours in silence. */
const sdkPatienceMs = 60_000;

/** A limit of the caller's that bars its call for longer than an SDK should wait. */
function isFarOff({ limit, retryAfterMs }: Fault): boolean {
  return limit !== undefined && (retryAfterMs === null || retryAfterMs > sdkPatienceMs);
}

/** Headers of every error, whoever writes it. */
export function faultHeaders(failure: Fault): string[] {
  const headers = ['content-type', 'application/json'];
  if (!errorTable[failure.code].retry || isFarOff(failure)) headers.push('x-should-retry', 'false');
  if (failure.retryAfterMs !== null)
    headers.push('retry-after', String(retryAfterSeconds(failure.retryAfterMs)));
  return headers;
}
