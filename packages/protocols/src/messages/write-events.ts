import type { EventWriter, WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { AnswerWriter, type Start } from '../translate/answer-writer.ts';
import { markSealed } from '../translate/seals.ts';
import { legalName, wrapInput } from '../translate/tools.ts';
import type { Citation, Sealed } from '../turn.ts';
import type { OpenBlock } from '../turn-event.ts';
import { noUsage, type Usage } from '../usage.ts';
import type { WireRecord } from '../wire-values.ts';
import {
  identityMembers,
  mediaText,
  signatureOf,
  stopMembers,
  usageMembers,
  writeCitation,
} from './answer.ts';
import { callIdRule } from './write-messages.ts';

/** The block that is open for the caller. `held`: it is opened with the first that is known of it. */
interface Open {
  readonly block: OpenBlock;
  isHeld: boolean;
  /** Free text, which can only be written when it is whole. */
  input: string;
  sealed: Sealed | null;
}

/** Writes a stream of this protocol, each frame with its name, block after block. */
export class MessagesEventWriter extends AnswerWriter<string> implements EventWriter {
  readonly #context: WriterContext;
  #isStarted = false;
  #index = 0;
  #open: Open | null = null;
  #hasCall = false;
  /** The last block that was begun is text. */
  #isBehindText = false;
  /** Thoughts without words behind a text, which are written only when something comes behind them. */
  readonly #waiting: Open[] = [];

  /** `textIndex`: the index of the text that it goes on with, where a stream was begun by another. */
  constructor(context: WriterContext, textIndex: number | null = null) {
    super('');
    this.#context = context;
    if (textIndex === null) return;
    this.#isStarted = true;
    this.#index = textIndex;
    this.#isBehindText = true;
    this.#open = { block: { kind: 'text' }, isHeld: false, input: '', sealed: null };
  }

  end(ours: WireRecord = {}): string {
    const { usage } = this.finish;
    const delta = stopMembers(this.finish, this.#hasCall);
    const last = usageMembers(usage ?? this.#estimate());
    return [
      this.#begun(),
      this.close(),
      frame('message_delta', { delta, usage: last, ...ours }),
      frame('message_stop', {}),
    ].join('');
  }

  protected start({ answerId, model, usage }: Omit<Start, 'kind'>): string {
    if (this.#isStarted) return '';
    this.#isStarted = true;
    const message = {
      ...identityMembers({ answerId, model }, this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: usageMembers({ ...(usage ?? this.#estimate()), output: 1 }),
    };
    return frame('message_start', { message }) + frame('ping', {});
  }

  /** Callers show how full the context is by the beginning, so it is never told to be empty. */
  #estimate(): Usage {
    return { ...noUsage, inputFresh: Math.max(1, this.#context.inputTokensEstimate) };
  }

  #begun(): string {
    return this.start({ answerId: null, model: null, usage: null });
  }

  protected open(block: OpenBlock): string {
    const before = this.#begun() + this.close();
    // Only the first of them tells whether thoughts are shown or withheld; text may turn out to be empty.
    const isHeld = block.kind !== 'tool-call';
    this.#open = { block, isHeld, input: '', sealed: null };
    if (block.kind === 'tool-call') this.#hasCall = true;
    return isHeld ? before : before + this.#blockStart(openingOf(block));
  }

  #blockStart(content_block: WireRecord): string {
    const before = this.#waiting
      .splice(0)
      .map((open) => this.#thought(open))
      .join('');
    this.#isBehindText = content_block['type'] === 'text';
    return before + frame('content_block_start', { index: this.#index, content_block });
  }

  #blockDelta(delta: WireRecord): string {
    return this.#deltaFrame(JSON.stringify(delta));
  }

  /** By far the most frequent one, and put together as such. */
  #deltaFrame(delta: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`;
  }

  #blockStop(): string {
    return frame('content_block_stop', { index: this.#index++ });
  }

  protected addCitation(citation: Citation): string {
    const delta = { type: 'citations_delta', citation: writeCitation(citation) };
    return this.#open === null ? '' : this.#opened(this.#open) + this.#blockDelta(delta);
  }

  protected addSeal(sealed: Sealed): string {
    if (this.#open !== null) this.#open.sealed = sealed;
    return '';
  }

  protected addText(text: string): string {
    const open = this.#open;
    if (open === null) return '';
    switch (open.block.kind) {
      case 'text':
      case 'refusal':
        return this.#opened(open) + this.#deltaFrame(`{"type":"text_delta","text":${JSON.stringify(text)}}`);
      case 'reasoning':
        return this.#opened(open) + this.#blockDelta({ type: 'thinking_delta', thinking: text });
      case 'tool-call':
        open.input += open.block.form === 'custom' ? text : '';
        return open.block.form === 'custom'
          ? ''
          : this.#blockDelta({ type: 'input_json_delta', partial_json: text });
      case 'media':
        return '';
      default:
        return unreachable(open.block);
    }
  }

  #opened(open: Open): string {
    if (!open.isHeld) return '';
    open.isHeld = false;
    return this.#blockStart(openingOf(open.block));
  }

  protected close(): string {
    const open = this.#open;
    this.#open = null;
    if (open === null) return '';
    switch (open.block.kind) {
      case 'text':
      case 'refusal':
        return open.isHeld ? '' : this.#blockStop();
      case 'reasoning':
        return this.#closeThought(open);
      case 'tool-call':
        return this.#closeCall(open, open.block.form === 'custom');
      case 'media':
        return this.#mediaBlock(mediaText(open.block));
      default:
        return unreachable(open.block);
    }
  }

  /** Agents take the last block for what was said, so that no state may stand behind the last text. */
  #closeThought(open: Open): string {
    if (!open.isHeld || !this.#isBehindText) return this.#thought(open);
    this.#waiting.push(open);
    return '';
  }

  /** The end of a thought, or all of it when it has no words. */
  #thought(open: Open): string {
    const { sealed } = open;
    if (open.isHeld && sealed?.form === 'redacted') {
      return this.#blockStart({ type: 'redacted_thinking', data: markSealed(sealed) }) + this.#blockStop();
    }
    const before = this.#opened(open);
    const signature = this.#blockDelta({ type: 'signature_delta', signature: signatureOf(sealed) });
    return before + signature + this.#blockStop();
  }

  #closeCall({ input, sealed }: Open, isCustom: boolean): string {
    const text = isCustom
      ? this.#blockDelta({ type: 'input_json_delta', partial_json: wrapInput(input) })
      : '';
    return text + this.#blockStop() + (sealed === null ? '' : this.#stateBlock(sealed));
  }

  /** The state of a call, behind it: a thought without words. */
  #stateBlock(sealed: Sealed): string {
    const signature = { type: 'signature_delta', signature: markSealed(sealed) };
    return (
      this.#blockStart(openingOf({ kind: 'reasoning' })) + this.#blockDelta(signature) + this.#blockStop()
    );
  }

  #mediaBlock(text: string): string {
    const delta = this.#blockDelta({ type: 'text_delta', text });
    return this.#blockStart(openingOf({ kind: 'text' })) + delta + this.#blockStop();
  }
}

function openingOf(block: OpenBlock): WireRecord {
  switch (block.kind) {
    case 'text':
    case 'refusal':
    case 'media':
      return { type: 'text', text: '', citations: null };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool-call':
      return {
        type: 'tool_use',
        id: legalName(block.id, callIdRule),
        name: block.name,
        input: {},
        caller: { type: 'direct' },
      };
    default:
      return unreachable(block);
  }
}

function frame(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
