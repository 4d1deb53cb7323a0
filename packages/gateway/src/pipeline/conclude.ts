import { type Fault, fault, type Protocol, unreachable } from '@headgate/protocols';
import type { Reply } from '../ports/data-plane.ts';
import type { Settlement } from '../ports/ledger.ts';
import type { Ending } from './answer.ts';
import type { Delivery } from './deliver.ts';
import { sendFault } from './send-fault.ts';

/**
 * Sends the end of a call, now that its entry is durable. An end whose entry could not be written is not sent: the caller
 * gets an error instead, and nothing is billed.
 */
export function conclude(
  { attempts, finish }: Delivery,
  settlement: Settlement,
  protocol: Protocol,
  traceId: string,
  reply: Reply,
): void {
  const isDurable = settlement === 'settled' || settlement === 'already-settled';
  switch (finish.kind) {
    case 'answered':
      if (isDurable) sendEnding(finish.ending, reply);
      else
        sendFailure(
          fault('internal'),
          finish.ending.kind === 'tail',
          attempts.length,
          protocol,
          traceId,
          reply,
        );
      break;
    case 'failed':
      sendFailure(finish.fault, finish.begun, attempts.length, protocol, traceId, reply);
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
  if (ending.kind === 'tail') reply.end(ending.bytes);
  else reply.send(200, ending.headers, ending.bytes);
}

/** After the beginning of an answer a failure can only be said in-band, and never looks like an end. */
function sendFailure(
  failure: Fault,
  begun: boolean,
  attempts: number,
  protocol: Protocol,
  traceId: string,
  reply: Reply,
): void {
  if (begun) reply.breakOff(protocol.encodeStreamError(failure, traceId));
  else sendFault(failure, attempts, traceId, reply);
}
