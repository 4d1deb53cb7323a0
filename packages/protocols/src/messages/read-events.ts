import type { EventReader, ReaderContext } from '../codec.ts';
import { parseJson } from '../refusal.ts';
import { collectAnswer, readEvent } from '../translate/answer.ts';
import { callersTool, unwrapInput } from '../translate/tools.ts';
import type { Citation } from '../turn.ts';
import type { BlockDelta, Finish, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { readFinishReason } from '../turn-event.ts';
import type { Usage } from '../usage.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { readCitation, readCitations } from './answer.ts';
import { mergeUsage, readUsage } from './meter.ts';

/** The block that is open, and what of it can only be told at its end. */
interface Open {
  readonly kind: OpenBlock['kind'];
  /** The input must be whole to be read. */
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

  readText(): boolean {
    return this.#open !== null;
  }

  end(): readonly TurnEvent[] {
    return this.#close();
  }

  /** A whole message. What the vendor's own tools have done and said is not part of the answer. */
  *readMessage(message: WireRecord): Generator<TurnEvent, void, undefined> {
    yield* this.#start(message);
    for (const block of listOf(message['content'])) yield* this.#openBlock(recordOf(block));
    yield* this.#close();
    yield* explanation(message);
    yield { kind: 'finish', ...readFinish(message, readUsage(message['usage'])) };
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

  /** All that a block brings along as it opens: most bring nothing, some all they have. */
  #filled(wire: WireRecord): readonly TurnEvent[] {
    const input = recordOf(wire['input']);
    switch (wire['type']) {
      case 'text':
        return [...this.#text(wire['text']), ...readCitations(wire['citations']).map(citationDelta)];
      case 'thinking':
        this.#sign(wire['signature']);
        return this.#text(wire['thinking']);
      case 'redacted_thinking':
        return [sealedDelta(this.#context.origin, stringOf(wire['data']) ?? '', 'redacted')];
      default:
        return Object.keys(input).length === 0 ? [] : this.#input(JSON.stringify(input));
    }
  }

  /** Some servers leave out how a block begins: its first delta says of which kind it is. */
  #delta(wire: WireRecord): readonly TurnEvent[] {
    const kind = this.#open === null ? impliedBlock(wire['type']) : null;
    return kind === null ? this.#add(wire) : [...this.#openBlock({ type: kind }), ...this.#add(wire)];
  }

  #add(wire: WireRecord): readonly TurnEvent[] {
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
        return [citationDelta(readCitation(recordOf(wire['citation'])))];
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

/** The input of a call that has no name is nobody's. */
function impliedBlock(delta: unknown): 'text' | 'thinking' | null {
  if (delta === 'text_delta') return 'text';
  return delta === 'thinking_delta' ? 'thinking' : null;
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

/** The vendor's words on why it refuses, which stand outside the content. */
function explanation(wire: WireRecord): readonly TurnEvent[] {
  const text = stringOf(recordOf(wire['stop_details'])['explanation']) ?? '';
  if (text === '') return [];
  return [
    { kind: 'block-start', block: { kind: 'refusal' } },
    delta({ kind: 'text', text }),
    { kind: 'block-stop' },
  ];
}

function sealedDelta(origin: string, data: string, form: 'signature' | 'redacted'): TurnEvent {
  return delta({ kind: 'sealed', sealed: { origin, data, form } });
}

function citationDelta(citation: Citation): TurnEvent {
  return delta({ kind: 'citation', citation });
}

function delta(inner: BlockDelta): TurnEvent {
  return { kind: 'delta', delta: inner };
}

const decoder = new TextDecoder();

export function readTurnAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const message = recordOf(parseJson(decoder.decode(body)));
  return collectAnswer(new MessagesEventReader(context).readMessage(message));
}

/** `stop_reason` and what belongs to it, of a message or of the last delta of one. */
function readFinish(wire: WireRecord, usage: Usage | null): Finish {
  const rawReason = stringOf(wire['stop_reason']);
  return {
    reason: rawReason === null ? 'unknown' : readFinishReason(rawReason),
    rawReason,
    stopSequence: stringOf(wire['stop_sequence']),
    usage,
  };
}

/** A call under the caller's name for its tool. */
function openCall(wire: WireRecord, { names, traceId }: ReaderContext): OpenBlock & { kind: 'tool-call' } {
  const tool = callersTool(names, stringOf(wire['name']) ?? '');
  return { kind: 'tool-call', id: stringOf(wire['id']) ?? `toolu_${traceId}`, ...tool };
}
