import type { ProtocolId } from '../../inbound-request.ts';
import { unreachable } from '../../result.ts';
import { argumentsField, sealedField } from '../../translate/caller-fields.ts';
import { wrapInput } from '../../translate/custom-tool.ts';
import { parseObject } from '../../translate/parse-object.ts';
import { mayReturn } from '../../translate/sealed-mark.ts';
import type { ToolNaming } from '../../translate/tool-names.ts';
import { type OrderedMessage, orderTurns } from '../../translate/turn-order.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type { Block, Message, ReasoningBlock, ToolCallBlock, ToolResultBlock, Turn } from '../../turn.ts';
import { foreignCallSignature } from './signature.ts';
import { writeMedia } from './write-media.ts';

export interface ContentsContext {
  /** The caller's protocol, in whose words losses are told. */
  readonly surface: ProtocolId;
  readonly notes: WriteNotes;
  readonly naming: ToolNaming;
  /** Of the target: state it has sealed may go back to it. */
  readonly origin: string;
}

/** A part as it is sent. */
type Part = Record<string, unknown>;

export function writeContents({ messages }: Turn, context: ContentsContext): readonly object[] {
  if (messages.some(({ name }) => name !== null)) context.notes.drop('messages[].name');
  const turns = orderTurns(messages.map((message) => returnable(message, context)));
  const writer = new ContentsWriter(context);
  const currentAt = turns.findLastIndex(isAsked);
  return turns.map((turn, index) => ({
    role: turn.role === 'user' ? 'user' : 'model',
    parts: turn.role === 'user' ? writer.user(turn) : writer.model(turn, index > currentAt),
  }));
}

/** Whether a user says something, and does more than return what tools gave: with that a new turn begins. */
function isAsked({ role, content }: OrderedMessage): boolean {
  return role === 'user' && content.some(({ kind }) => kind !== 'tool-result');
}

/** Without thoughts that did not come from here: they would be refused, and are nobody's words. */
function returnable(message: Message, { surface, notes, origin }: ContentsContext): Message {
  const content = message.content.filter((block) => {
    if (block.kind !== 'reasoning') return true;
    if (block.sealed?.origin === 'native') notes.drop(sealedField(surface));
    return mayReturn(block.sealed, origin);
  });
  return { ...message, content };
}

class ContentsWriter {
  readonly #context: ContentsContext;
  /** The calls so far, by their ids: results name the tool they are from. */
  readonly #calls = new Map<string, ToolCallBlock>();

  constructor(context: ContentsContext) {
    this.#context = context;
  }

  /** Results stand first, and what they hold beside text behind all of them. */
  user({ content }: OrderedMessage): readonly Part[] {
    const results = content.filter((block) => block.kind === 'tool-result');
    const others = content.filter((block) => block.kind !== 'tool-result');
    const media = results.flatMap((result) => result.content.filter((block) => block.kind === 'media'));
    return [
      ...results.map((result) => this.#result(result)),
      ...[...media, ...others].flatMap((block) => this.#spoken(block)),
    ];
  }

  /** `isCurrent`: it belongs to the turn that is being answered. */
  model({ content }: OrderedMessage, isCurrent: boolean): readonly Part[] {
    const parts: Part[] = [];
    for (const block of content) {
      if (block.kind === 'reasoning') this.#thought(block, parts);
      else if (block.kind === 'tool-call') parts.push(this.#call(block));
      else parts.push(...this.#spoken(block));
    }
    if (isCurrent) signFirstCall(parts);
    return parts;
  }

  #spoken(block: Block): readonly Part[] {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return [{ text: block.text }];
      case 'media':
        return writeMedia(block, this.#context);
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return [];
      default:
        return unreachable(block);
    }
  }

  /** A seal without a thought is that of the part before it, where that has none. */
  #thought({ text, sealed }: ReasoningBlock, parts: Part[]): void {
    const thoughtSignature = sealed?.data ?? '';
    const last = parts.at(-1);
    if (text !== '') parts.push({ text, thought: true, thoughtSignature });
    else if (last === undefined || 'thoughtSignature' in last || last['thought'] === true)
      parts.push({ text: '', thoughtSignature });
    else last['thoughtSignature'] = thoughtSignature;
  }

  #call(block: ToolCallBlock): Part {
    const { naming, origin } = this.#context;
    this.#calls.set(block.id, block);
    const seal = mayReturn(block.sealed, origin) ? { thoughtSignature: block.sealed.data } : {};
    return {
      functionCall: { ...idMember(block.id), name: naming.sent(block), args: this.#args(block) },
      ...seal,
    };
  }

  #args({ form, input }: ToolCallBlock): object {
    const args = parseObject(form === 'custom' ? wrapInput(input) : input);
    if (args === null)
      this.#context.notes.change(argumentsField(this.#context.surface), 'malformed, sent as none');
    return args ?? {};
  }

  #result(block: ToolResultBlock): Part {
    const call = this.#calls.get(block.callId);
    const name = call === undefined ? 'unknown' : this.#context.naming.sent(call);
    return { functionResponse: { ...idMember(block.callId), name, response: responseOf(block) } };
  }
}

/** The first one of those that stand side by side has the seal. */
function signFirstCall(parts: readonly Part[]): void {
  const call = parts.find((part) => 'functionCall' in part);
  if (call !== undefined) call['thoughtSignature'] ??= foreignCallSignature;
}

/** Ids of ours stand for none, where the model gave or took none. */
const madeUpId = /^call_(?:at_\d+|[0-9a-f]{32}_\d+)$/;

function idMember(id: string): object {
  return id === '' || madeUpId.test(id) ? {} : { id };
}

/** An object is the response; anything else is its output, or its error. */
function responseOf({ content, isError }: ToolResultBlock): object {
  const text = content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
  if (isError) return { error: text };
  return parseObject(text) ?? { output: text };
}
