import type { WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import type { Block, MediaBlock, ReasoningBlock, TextBlock, ToolCallBlock } from '../../turn.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { listOf, type WireRecord } from '../../wire-values.ts';
import { identityOf, openCall, writeMedia, writeUsage } from './answer-parts.ts';
import { writeCitation } from './citations.ts';
import { finishWordOf } from './finish-words.ts';
import { expectsFunctionCall } from './read-settings.ts';
import { writeCallSeal, writeDetail } from './thoughts.ts';

const encoder = new TextEncoder();

export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const { model, finish } = answer;
  const message = new MessageDraft(context);
  for (const block of answer.content) message.add(block);
  const body = {
    ...identityOf('chat.completion', model, context),
    choices: [
      {
        index: 0,
        message: message.wire(),
        logprobs: null,
        finish_reason: message.finishWord(finishWordOf(finish.reason, message)),
      },
    ],
    usage: finish.usage === null ? undefined : writeUsage(finish.usage),
  };
  return encoder.encode(JSON.stringify(body));
}

/** The one message of an answer: its blocks go where the protocol has a member for their kind. */
class MessageDraft {
  readonly #context: WriterContext;
  #content = '';
  #refusal = '';
  #reasoning = '';
  #media: WireRecord = {};
  #mediaCount = 0;
  readonly #annotations: WireRecord[] = [];
  readonly #details: WireRecord[] = [];
  readonly #images: unknown[] = [];
  readonly #calls: ToolCallBlock[] = [];

  constructor(context: WriterContext) {
    this.#context = context;
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get hasRefusal(): boolean {
    return this.#refusal !== '';
  }

  add(block: Block): void {
    switch (block.kind) {
      case 'text':
        return this.#addText(block);
      case 'reasoning':
        return this.#addReasoning(block);
      case 'refusal':
        this.#refusal += block.text;
        return;
      case 'media':
        return this.#addMedia(block);
      case 'tool-call':
        this.#calls.push(block);
        return;
      case 'tool-result':
        return;
      default:
        unreachable(block);
    }
  }

  finishWord(word: string): string {
    return word === 'tool_calls' && this.#isOlder ? 'function_call' : word;
  }

  wire(): WireRecord {
    const hasText = this.#content !== '' || (!this.hasCalls && !this.hasRefusal);
    return {
      role: 'assistant',
      content: hasText ? this.#content : null,
      refusal: this.hasRefusal ? this.#refusal : null,
      annotations: this.#annotations,
      reasoning_content: this.#reasoning === '' ? undefined : this.#reasoning,
      reasoning_details: this.#details.length === 0 ? undefined : this.#details,
      images: this.#images.length === 0 ? undefined : this.#images,
      ...this.#media,
      ...this.#callMembers(),
    };
  }

  get #isOlder(): boolean {
    return expectsFunctionCall(this.#context.turn);
  }

  #addText({ text, citations }: TextBlock): void {
    for (const citation of citations) {
      const annotation = writeCitation(citation, this.#content.length, text.length);
      if (annotation !== null) this.#annotations.push(annotation);
    }
    this.#content += text;
  }

  #addReasoning({ text, sealed }: ReasoningBlock): void {
    this.#reasoning += text;
    if (sealed !== null) this.#details.push(writeDetail(text, sealed, this.#details.length));
  }

  #addMedia(block: MediaBlock): void {
    const { images, ...rest } = writeMedia(block, this.#mediaCount++, this.#context);
    for (const image of listOf(images)) this.#images.push(image);
    this.#media = { ...this.#media, ...rest };
  }

  /** Before there were tools, an answer held one call. */
  #callMembers(): WireRecord {
    const [first] = this.#calls;
    if (first === undefined) return {};
    if (this.#isOlder) return { function_call: { name: first.name, arguments: first.input } };
    return { tool_calls: this.#calls.map(writeCall) };
  }
}

function writeCall({ id, name, form, input, sealed }: ToolCallBlock): WireRecord {
  return { ...openCall(id, name, form, input), ...(sealed === null ? {} : writeCallSeal(sealed)) };
}
