import { fault, type Protocol, type StreamFraming, unreachable } from '@headgate/protocols';
import type { Reply } from '../ports/data-plane.ts';
import type { Ending } from './answer.ts';
import type { Delivery } from './deliver.ts';
import { sendFault } from './send-fault.ts';

/** The same call when its entry could not be written: the end of its answer is not sent, but an error instead. */
export function withheld(delivery: Delivery, begun: boolean): Delivery {
  if (delivery.finish.kind !== 'answered') return delivery;
  return { ...delivery, finish: { kind: 'failed', fault: fault('internal'), begun } };
}

/**
 * Sends the end of a call, now that its entry is durable or its answer withheld. After the beginning of an answer a
 * failure can only be said in-band, and never looks like an end.
 */
export function conclude(
  { attempts, finish }: Delivery,
  protocol: Protocol,
  framing: StreamFraming,
  traceId: string,
  reply: Reply,
): void {
  switch (finish.kind) {
    case 'answered':
      sendEnding(finish.ending, reply);
      break;
    case 'failed':
      if (finish.begun) reply.breakOff(protocol.encodeStreamError(finish.fault, traceId, framing));
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

function sendEnding(ending: Ending, reply: Reply): void {
  // A sign of life may have begun an answer of which all else is still to be sent.
  if (ending.kind === 'tail' || reply.begun) reply.end(ending.bytes);
  else reply.send(200, ending.headers, ending.bytes);
}
