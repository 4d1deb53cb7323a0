import type { EventWriter, WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import type { MediaBlock, Sealed } from '../../turn.ts';
import type { BlockDelta, Finish, OpenBlock, TurnEvent } from '../../turn-event.ts';
import type { WireRecord } from '../../wire-values.ts';
import { identityOf, openCall, writeMedia, writeUsage } from './answer-parts.ts';
import { writeCitation } from './citations.ts';
import { finishWordOf } from './finish-words.ts';
import { expectsFunctionCall } from './read-settings.ts';
import { writeCallSeal, writeDetail } from './thoughts.ts';

type OpenCall = Extract<OpenBlock, { kind: 'tool-call' }>;

export class ChatEventWriter implements EventWriter {
  readonly #context: WriterContext;
  /** Before there were tools, an answer held one call. */
  readonly #isOlder: boolean;
  /** What every chunk begins with, up to its choices. */
  #opening = '';
  #hasRole = false;
  #block: OpenBlock | null = null;
  /** Of the block of thoughts that is open: a seal is of all of it. */
  #thought = '';
  #seal: Sealed | null = null;
  /** Characters of content in the blocks before, and in the one that is open. */
  #offset = 0;
  #length = 0;
  #calls = 0;
  #details = 0;
  #media = 0;
  #hasRefusal = false;
  #finish: Finish | null = null;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#isOlder = expectsFunctionCall(context.turn);
    this.#identify(null);
  }

  write(event: TurnEvent): string {
    switch (event.kind) {
      case 'start':
        this.#identify(event.model);
        return '';
      case 'block-start':
        return this.#open(event.block);
      case 'delta':
        return this.#add(event.delta);
      case 'block-stop':
        return this.#close();
      case 'finish':
        this.#finish = event;
        return '';
      default:
        return unreachable(event);
    }
  }

  end(): string {
    const kind = { hasCalls: this.#calls > 0, hasRefusal: this.#hasRefusal };
    const word = finishWordOf(this.#finish?.reason ?? 'unknown', kind);
    const finish = word === 'tool_calls' && this.#isOlder ? 'function_call' : word;
    return `${this.#role('')}${this.#chunk({}, finish)}${this.#usageChunk()}data: [DONE]\n\n`;
  }

  #identify(model: string | null): void {
    const identity = identityOf('chat.completion.chunk', model, this.#context);
    this.#opening = `data: ${JSON.stringify(identity).slice(0, -1)},"choices":[`;
  }

  /** The role comes once, with the first block: the content beside it is null where a call comes first. */
  #role(content: '' | null): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#chunk({ role: 'assistant', content, refusal: null });
  }

  #chunk(delta: WireRecord, finish: string | null = null): string {
    const reason = finish === null ? 'null' : `"${finish}"`;
    const usage = this.#context.wantsUsageFrame ? ',"usage":null' : '';
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}}`;
    return `${this.#opening}${choice}]${usage}}\n\n`;
  }

  #usageChunk(): string {
    const usage = this.#finish?.usage ?? null;
    if (usage === null || !this.#context.wantsUsageFrame) return '';
    return `${this.#opening}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`;
  }

  #open(block: OpenBlock): string {
    this.#block = block;
    const role = this.#role(block.kind === 'tool-call' ? null : '');
    switch (block.kind) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return role;
      case 'tool-call':
        return role + this.#openCall(block);
      case 'media':
        return role + this.#writeMedia(block);
      default:
        return unreachable(block);
    }
  }

  #openCall({ id, name, form }: OpenCall): string {
    const index = this.#calls++;
    if (!this.#isOlder) return this.#chunk({ tool_calls: [{ index, ...openCall(id, name, form, '') }] });
    return index === 0 ? this.#chunk({ function_call: { name, arguments: '' } }) : '';
  }

  #writeMedia(block: MediaBlock): string {
    return this.#chunk(writeMedia(block, this.#media++, this.#context));
  }

  #add(delta: BlockDelta): string {
    switch (delta.kind) {
      case 'text':
        return delta.text === '' ? '' : this.#addText(delta.text);
      case 'citation': {
        const annotation = writeCitation(delta.citation, this.#offset, this.#length);
        return annotation === null ? '' : this.#chunk({ annotations: [annotation] });
      }
      case 'sealed':
        this.#seal = delta.sealed;
        return '';
      default:
        return unreachable(delta);
    }
  }

  #addText(text: string): string {
    const block = this.#block;
    switch (block?.kind) {
      case 'text':
        this.#length += text.length;
        return this.#chunk({ content: text });
      case 'reasoning':
        this.#thought += text;
        return this.#chunk({ reasoning_content: text });
      case 'refusal':
        this.#hasRefusal = true;
        return this.#chunk({ refusal: text });
      case 'tool-call':
        return this.#addInput(block, text);
      case 'media':
      case undefined:
        return '';
      default:
        return unreachable(block);
    }
  }

  #addInput({ form }: OpenCall, text: string): string {
    const index = this.#calls - 1;
    if (this.#isOlder) return index === 0 ? this.#chunk({ function_call: { arguments: text } }) : '';
    return this.#chunk({ tool_calls: [{ index, ...inputPart(form, text) }] });
  }

  #close(): string {
    const seal = this.#seal;
    const text = seal === null ? '' : this.#writeSeal(seal);
    this.#seal = null;
    this.#thought = '';
    this.#offset += this.#length;
    this.#length = 0;
    this.#block = null;
    return text;
  }

  #writeSeal(sealed: Sealed): string {
    if (this.#block?.kind === 'reasoning') {
      const detail = writeDetail(this.#thought, sealed, this.#details++);
      return this.#chunk({ reasoning_details: [detail] });
    }
    if (this.#block?.kind !== 'tool-call' || this.#isOlder) return '';
    // Clients that check every chunk do not know a call without its function.
    const part = inputPart(this.#block.form, '');
    return this.#chunk({ tool_calls: [{ index: this.#calls - 1, ...part, ...writeCallSeal(sealed) }] });
  }
}

function inputPart(form: OpenCall['form'], text: string): WireRecord {
  return form === 'custom' ? { custom: { input: text } } : { function: { arguments: text } };
}
