import type { EventReader, ReaderContext } from '../../codec.ts';
import { unwrapInput } from '../../translate/custom-tool.ts';
import { readEvent } from '../../translate/read-event.ts';
import type { BlockDelta, OpenBlock, TurnEvent } from '../../turn-event.ts';
import { recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { mergeUsage, readUsage } from '../meter.ts';
import { readCitation } from './citations.ts';
import { openCall, readExplanation, readFinish } from './read-answer.ts';

/** The block that is open, and what of it can only be told at its end. */
interface Open {
  readonly kind: OpenBlock['kind'];
  /** Whether the input must be whole to be read. */
  readonly isWrapped: boolean;
  hasInput: boolean;
  wrapped: string;
  signature: string;
}

/** Reads the stream of an upstream of this protocol, whose blocks come one after the other. */
export class MessagesEventReader implements EventReader {
  readonly #context: ReaderContext;
  #isStarted = false;
  #isFinished = false;
  #firstUsage: unknown = null;
  #open: Open | null = null;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const read = this.#isFinished ? null : readEvent(frame);
    if (read === null) return [];
    const { type, event } = read;
    switch (type) {
      case 'message_start':
        return this.#start(recordOf(event['message']));
      case 'content_block_start':
        return this.#openBlock(recordOf(event['content_block']));
      case 'content_block_delta':
        return this.#delta(recordOf(event['delta']));
      case 'content_block_stop':
        return this.#close();
      case 'message_delta':
        return this.#finish(event);
      default:
        return [];
    }
  }

  end(): readonly TurnEvent[] {
    return this.#close();
  }

  /** A second beginning, which some proxies send, begins nothing. */
  #start(message: WireRecord): readonly TurnEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    this.#firstUsage = message['usage'];
    const [answerId, model] = [stringOf(message['id']), stringOf(message['model'])];
    return [{ kind: 'start', answerId, model, usage: readUsage(this.#firstUsage) }];
  }

  #openBlock(wire: WireRecord): readonly TurnEvent[] {
    const before = [...this.#begun(), ...this.#close()];
    const block = openingOf(wire, this.#context);
    if (block === null) return before;
    const isWrapped = block.kind === 'tool-call' && block.form === 'custom';
    this.#open = { kind: block.kind, isWrapped, hasInput: false, wrapped: '', signature: '' };
    return [...before, { kind: 'block-start', block }, ...this.#filled(wire)];
  }

  /** Nothing comes before the beginning, whatever a server sends first. */
  #begun(): readonly TurnEvent[] {
    return this.#start({});
  }

  /** What a block brings along as it opens: most bring nothing, some all they have. */
  #filled(wire: WireRecord): readonly TurnEvent[] {
    const input = recordOf(wire['input']);
    switch (wire['type']) {
      case 'text':
        return this.#text(wire['text']);
      case 'thinking':
        this.#sign(wire['signature']);
        return this.#text(wire['thinking']);
      case 'redacted_thinking':
        return [sealedDelta(this.#context.origin, stringOf(wire['data']) ?? '', 'redacted')];
      default:
        return Object.keys(input).length === 0 ? [] : this.#input(JSON.stringify(input));
    }
  }

  #delta(wire: WireRecord): readonly TurnEvent[] {
    if (this.#open === null) return [];
    switch (wire['type']) {
      case 'text_delta':
        return this.#text(wire['text']);
      case 'thinking_delta':
        return this.#text(wire['thinking']);
      case 'input_json_delta':
        return this.#input(stringOf(wire['partial_json']) ?? '');
      case 'signature_delta':
        this.#sign(wire['signature']);
        return [];
      case 'citations_delta':
        return [delta({ kind: 'citation', citation: readCitation(recordOf(wire['citation'])) })];
      default:
        return [];
    }
  }

  #text(value: unknown): readonly TurnEvent[] {
    const text = stringOf(value) ?? '';
    return text === '' ? [] : [delta({ kind: 'text', text })];
  }

  #input(text: string): readonly TurnEvent[] {
    if (this.#open === null || text === '') return [];
    this.#open.hasInput = true;
    if (!this.#open.isWrapped) return this.#text(text);
    this.#open.wrapped += text;
    return [];
  }

  /** Some servers repeat the signature with its delta, some cut it in pieces: what is told last is added only if it is new. */
  #sign(value: unknown): void {
    const signature = stringOf(value) ?? '';
    if (this.#open !== null && this.#open.signature !== signature) this.#open.signature += signature;
  }

  #close(): readonly TurnEvent[] {
    if (this.#open === null) return [];
    const rest = closingDeltas(this.#open, this.#context.origin);
    this.#open = null;
    return [...rest, { kind: 'block-stop' }];
  }

  /** The reason comes with the last usage; what was said of the input at the beginning still counts where this is silent. */
  #finish(event: WireRecord): readonly TurnEvent[] {
    const wire = recordOf(event['delta']);
    if (stringOf(wire['stop_reason']) === null) return [];
    this.#isFinished = true;
    const before = [...this.#begun(), ...this.#close()];
    const usage = readUsage(mergeUsage(this.#firstUsage, event['usage']));
    return [...before, ...explanation(wire), { kind: 'finish', ...readFinish(wire, usage) }];
  }
}

function openingOf(wire: WireRecord, context: ReaderContext): OpenBlock | null {
  switch (wire['type']) {
    case 'text':
      return { kind: 'text' };
    case 'thinking':
    case 'redacted_thinking':
      return { kind: 'reasoning' };
    case 'tool_use':
      return openCall(wire, context);
    default:
      return null;
  }
}

function closingDeltas(open: Open, origin: string): readonly TurnEvent[] {
  if (open.isWrapped) {
    const text = unwrapInput(open.wrapped);
    return text === '' ? [] : [delta({ kind: 'text', text })];
  }
  // A call without arguments is one with none of them.
  if (open.kind === 'tool-call') return open.hasInput ? [] : [delta({ kind: 'text', text: '{}' })];
  return open.signature === '' ? [] : [sealedDelta(origin, open.signature, 'signature')];
}

function explanation(wire: WireRecord): readonly TurnEvent[] {
  return readExplanation(wire).flatMap(({ text }) => [
    { kind: 'block-start' as const, block: { kind: 'refusal' as const } },
    delta({ kind: 'text', text }),
    { kind: 'block-stop' as const },
  ]);
}

function sealedDelta(origin: string, data: string, form: 'signature' | 'redacted'): TurnEvent {
  return delta({ kind: 'sealed', sealed: { origin, data, form } });
}

function delta(inner: BlockDelta): TurnEvent {
  return { kind: 'delta', delta: inner };
}
