import type { Conversation } from './conversation.ts';
import type { Delivery } from './deliver.ts';

/** Tells a count of ours from an upstream's own. */
const estimatedHeader = ['x-headgate-token-count', 'estimated'];

/** Faults that say what is wrong with the request: to those an estimate is no answer. */
const requestStatuses: readonly number[] = [400, 413, 422];

/**
 * The same count with an estimate of our own in the place of an upstream's failure, where the protocol has words for one.
 * An endpoint that an upstream does not have is such a failure, and having nobody to ask is another.
 */
export async function countLocally(conversation: Conversation, delivery: Delivery): Promise<Delivery> {
  const { protocol } = conversation;
  const { finish } = delivery;
  if (finish.kind !== 'failed' || requestStatuses.includes(finish.fault.status)) return delivery;
  if (protocol.encodeTokenCount === undefined) return delivery;
  const bytes = protocol.encodeTokenCount(await estimateTokens(conversation));
  const headers = ['content-type', 'application/json', ...estimatedHeader];
  return { ...delivery, finish: { kind: 'answered', ending: { kind: 'whole', headers, bytes } } };
}

/** By a tokenizer in another thread; by the number of bytes where that has too much to do. */
async function estimateTokens({ gateway, inbound, request }: Conversation): Promise<number> {
  return (await gateway.tokens.count(inbound.body)) ?? request.facts.inputTokensEstimate;
}
