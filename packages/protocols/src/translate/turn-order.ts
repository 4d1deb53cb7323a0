import { unreachable } from '../result.ts';
import {
  type Block,
  type MediaBlock,
  type Message,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  textBlock,
} from '../turn.ts';

/** All that one side says before the other does. Never empty. */
export interface OrderedMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

/** The words that a user is taken to have said where a conversation begins with the model. */
const openingText = 'Continue.';
const noResultText = 'No result was returned for this call.';
const orphanText = '[Result of a tool call that is not part of this conversation]';

/**
 * A conversation as protocols want it that insist on turns: user and assistant alternate and the user begins; the results of
 * all calls of one assistant's turn stand at the beginning of the user's next one, in the order of the calls. A missing result
 * is made up as an error, one without its call becomes text, an instruction in the middle is said by the user in `<system>`.
 * Empty text is left out. Blocks the target does not take at all are to be removed before, since turns may become empty.
 */
export function orderTurns(messages: readonly Message[]): readonly OrderedMessage[] {
  const turns = alternate(messages);
  const ordered: OrderedMessage[] = [];
  let open: readonly ToolCallBlock[] = [];
  for (const { role, content } of turns) {
    ordered.push({ role, content: role === 'user' ? answerCalls(open, content) : content });
    open = role === 'assistant' ? content.filter(isCall) : [];
  }
  if (open.length > 0) ordered.push({ role: 'user', content: answerCalls(open, []) });
  return ordered;
}

/** Neighbours of one role in one turn, beginning with the user's. */
function alternate(messages: readonly Message[]): readonly OrderedMessage[] {
  const turns: { readonly role: OrderedMessage['role']; readonly content: Block[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = message.content.filter(hasContent).map((block) => spoken(message, block));
    if (content.length === 0) continue;
    if (turns.at(-1)?.role === role) turns.at(-1)?.content.push(...content);
    else turns.push({ role, content });
  }
  return turns[0]?.role === 'user' ? turns : [{ role: 'user', content: [textBlock(openingText)] }, ...turns];
}

function spoken({ role }: Message, block: Block): Block {
  return role === 'system' && block.kind === 'text'
    ? { ...block, text: `<system>\n${block.text}\n</system>` }
    : block;
}

function hasContent(block: Block): boolean {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return block.text.trim() !== '';
    case 'reasoning':
    case 'media':
    case 'tool-call':
    case 'tool-result':
      return true;
    default:
      return unreachable(block);
  }
}

/** The results of these calls, each once and in their order, then everything else the user says. */
export function answerCalls(calls: readonly ToolCallBlock[], content: readonly Block[]): readonly Block[] {
  const results = new Map<string, ToolResultBlock>();
  const others: Block[] = [];
  const called = new Set(calls.map(({ id }) => id));
  for (const block of content) {
    if (block.kind !== 'tool-result') others.push(block);
    else if (called.has(block.callId) && !results.has(block.callId)) results.set(block.callId, block);
    else others.push(...orphanBlocks(block));
  }
  return [...[...called].map((id) => results.get(id) ?? missingResult(id)), ...others];
}

function missingResult(callId: string): ToolResultBlock {
  return {
    kind: 'tool-result',
    callId,
    isError: true,
    content: [textBlock(noResultText)],
    cacheTtl: null,
  };
}

/** A result of no call of this conversation, as what a user says. */
function orphanBlocks({ content }: ToolResultBlock): readonly (TextBlock | MediaBlock)[] {
  return [textBlock(orphanText), ...content.filter(hasContent)];
}

function isCall(block: Block): block is ToolCallBlock {
  return block.kind === 'tool-call';
}

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
