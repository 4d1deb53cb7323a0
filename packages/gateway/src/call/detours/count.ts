import { fault } from '@headgate/protocols';
import { alertBug, type CallEnd } from '../outcomes.ts';
import type { Call } from '../request.ts';

/** Tells a count of ours from an upstream's own. */
const estimatedHeader = ['x-headgate-token-count', 'estimated'];

/** Faults that say what is wrong with the request: to those an estimate is no answer. */
const requestStatuses: readonly number[] = [400, 413, 422];

/**
 * The same count with an estimate of our own in the place of an upstream's failure, where the protocol has words for one.
 * An endpoint that an upstream does not have is such a failure, and having nobody to ask is another.
 */
export function countLocally(call: Call, finish: CallEnd, done: (finish: CallEnd) => void): void {
  const isFailed = finish.kind === 'failed' && !requestStatuses.includes(finish.fault.status);
  if (!isFailed || call.protocol.encodeTokenCount === undefined) return done(finish);
  count(call).then(done, (error: unknown) => {
    const { inbound, gateway, reply } = call;
    alertBug(error, inbound.traceId, gateway.observer);
    done({ kind: 'failed', fault: fault('internal'), begun: reply.begun });
  });
}

/** By a tokenizer in another thread; by the number of bytes where that has too much to do. */
async function count({ protocol, gateway, inbound, request, caller }: Call): Promise<CallEnd> {
  const tokens =
    (await gateway.tokens.count(inbound.body, caller.accountId)) ?? request.facts.inputTokensEstimate;
  const bytes = protocol.encodeTokenCount?.(tokens) ?? new Uint8Array(0);
  const headers = ['content-type', 'application/json', ...estimatedHeader];
  return { kind: 'answered', headers, bytes };
}
