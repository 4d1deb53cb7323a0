import type { Block, Message, ToolCallBlock, ToolResultBlock } from '../turn.ts';
import { orphanBlocks } from './turn-order.ts';

/**
 * A conversation in which every call has an id of its own, and every result stands behind the call it is of. Some servers
 * begin to count anew with each answer, or give no ids at all, and their callers hand that to whoever comes next; vendors
 * refuse an id that stands for two calls, and a result of none. A call that is made again under its id is no longer waited
 * for; a result of no call becomes text.
 */
export function pairCalls(messages: readonly Message[]): readonly Message[] {
  const pairing = new Pairing();
  return messages.map((message) => pairing.message(message));
}

class Pairing {
  /** All ids that are in use. */
  readonly #taken = new Set<string>();
  /** By the id that the caller has for them: those without a result, under the ids they got, oldest first. */
  readonly #open = new Map<string, string[]>();

  message(message: Message): Message {
    if (message.role === 'assistant')
      for (const block of message.content) if (block.kind === 'tool-call') this.#open.delete(block.id);
    return { ...message, content: message.content.flatMap((block) => this.#block(block)) };
  }

  #block(block: Block): readonly Block[] {
    if (block.kind === 'tool-call') return [this.#call(block)];
    return block.kind === 'tool-result' ? this.#result(block) : [block];
  }

  #call(call: ToolCallBlock): ToolCallBlock {
    let id = call.id;
    for (let n = 2; this.#taken.has(id); n++) id = `${call.id}_${n}`;
    this.#taken.add(id);
    this.#open.set(call.id, [...(this.#open.get(call.id) ?? []), id]);
    return id === call.id ? call : { ...call, id };
  }

  #result(result: ToolResultBlock): readonly Block[] {
    const callId = this.#open.get(result.callId)?.shift();
    if (callId === undefined) return orphanBlocks(result);
    return [callId === result.callId ? result : { ...result, callId }];
  }
}
