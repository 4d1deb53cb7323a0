import { readSseEvent } from '../bytes/sse.ts';
import { parseJson } from '../refusal.ts';
import { unreachable } from '../result.ts';
import {
  type Block,
  type Citation,
  type Sealed,
  type ToolCallBlock,
  type ToolResultBlock,
  textBlock,
} from '../turn.ts';
import type { BlockDelta, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { isRecord, stringOf, type WireRecord } from '../wire-values.ts';
import { AnswerWriter, type Start } from './answer-writer.ts';

/** A whole answer as the events that would make it; the other way round than `collectAnswer`. */
export function* answerEvents(answer: TurnAnswer): Generator<TurnEvent, void, undefined> {
  const { answerId, model, content, finish } = answer;
  yield { kind: 'start', answerId, model, usage: null };
  for (const block of content) yield* blockEvents(block);
  yield { kind: 'finish', ...finish };
}

function* blockEvents(block: Block): Generator<TurnEvent, void, undefined> {
  // A model answers with no results of tools.
  if (block.kind === 'tool-result') return;
  yield { kind: 'block-start', block: openingOf(block) };
  for (const delta of deltasOf(block)) yield { kind: 'delta', delta };
  yield { kind: 'block-stop' };
}

/** A block of an answer. */
export type AnswerBlock = Exclude<Block, ToolResultBlock>;

/** A block as it opens. */
export function openingOf(block: AnswerBlock): OpenBlock {
  switch (block.kind) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { kind: block.kind };
    case 'media':
      return block;
    case 'tool-call': {
      const { kind, id, name, namespace, form } = block;
      return { kind, id, name, namespace, form };
    }
    default:
      return unreachable(block);
  }
}

/** All that comes to a block once it is open. */
export function deltasOf(block: AnswerBlock): readonly BlockDelta[] {
  switch (block.kind) {
    case 'text':
      return [
        ...textDelta(block.text),
        ...block.citations.map((citation) => ({ kind: 'citation' as const, citation })),
      ];
    case 'refusal':
      return textDelta(block.text);
    case 'reasoning':
      return [...textDelta(block.text), ...sealedDelta(block.sealed)];
    case 'tool-call':
      return [...textDelta(block.input), ...sealedDelta(block.sealed)];
    case 'media':
      return [];
    default:
      return unreachable(block);
  }
}

function textDelta(text: string): readonly BlockDelta[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

function sealedDelta(sealed: ToolCallBlock['sealed']): readonly BlockDelta[] {
  return sealed === null ? [] : [{ kind: 'sealed', sealed }];
}

/** A block as far as its deltas have come. */
interface Growing {
  readonly open: OpenBlock;
  text: string;
  readonly citations: Citation[];
  sealed: Sealed | null;
}

/** Puts an answer together from its events; a block that was never closed counts as it stands. */
class AnswerCollector extends AnswerWriter<void> {
  #begun: Pick<TurnAnswer, 'answerId' | 'model'> = { answerId: null, model: null };
  #growing: Growing | null = null;
  readonly #content: Block[] = [];

  constructor() {
    super(undefined);
  }

  answer(): TurnAnswer {
    this.close();
    const { answerId, model } = this.#begun;
    return { answerId, model, content: this.#content, finish: this.finish };
  }

  protected start(start: Start): void {
    this.#begun = start;
  }

  protected open(block: OpenBlock): void {
    this.close();
    this.#growing = { open: block, text: '', citations: [], sealed: null };
  }

  protected addText(text: string): void {
    if (this.#growing !== null) this.#growing.text += text;
  }

  protected addCitation(citation: Citation): void {
    this.#growing?.citations.push(citation);
  }

  protected addSeal(sealed: Sealed): void {
    if (this.#growing !== null) this.#growing.sealed = sealed;
  }

  protected close(): void {
    if (this.#growing !== null) this.#content.push(closedBlock(this.#growing));
    this.#growing = null;
  }
}

export function collectAnswer(events: Iterable<TurnEvent>): TurnAnswer {
  const collector = new AnswerCollector();
  for (const event of events) collector.write(event);
  return collector.answer();
}

/** The block that has been opened and filled. */
function closedBlock({ open, text, citations, sealed }: Growing): Block {
  switch (open.kind) {
    case 'text':
      return textBlock(text, null, citations);
    case 'reasoning':
      return { kind: 'reasoning', text, sealed };
    case 'refusal':
      return { kind: 'refusal', text };
    case 'tool-call':
      return { ...open, input: text, sealed };
    case 'media':
      return open;
    default:
      return unreachable(open);
  }
}

interface Queued {
  readonly block: OpenBlock;
  readonly deltas: BlockDelta[];
  isClosed: boolean;
}

/**
 * Puts the blocks of an upstream that mixes them one behind the other, in the order in which they were opened: the first
 * one that is open is let through as it comes, what belongs to the others is held until it is their turn. `Key` is how
 * the upstream tells its blocks apart.
 */
export class BlockSequencer<Key> {
  readonly #open = new Map<Key, Queued>();
  /** In the order of their opening; the first one is the one let through. */
  readonly #queue = new Set<Queued>();
  #ready: TurnEvent[] = [];

  has(key: Key): boolean {
    return this.#open.has(key);
  }

  /** A block of the same key that is still open is closed by it. */
  open(key: Key, block: OpenBlock): void {
    this.close(key);
    const queued: Queued = { block, deltas: [], isClosed: false };
    this.#open.set(key, queued);
    this.#queue.add(queued);
    if (this.#first() === queued) this.#ready.push({ kind: 'block-start', block });
  }

  /** Nothing happens to a block that is not open. */
  add(key: Key, delta: BlockDelta): void {
    const queued = this.#open.get(key);
    if (queued === undefined) return;
    if (this.#first() === queued) this.#ready.push({ kind: 'delta', delta });
    else hold(queued.deltas, delta);
  }

  close(key: Key): void {
    const queued = this.#open.get(key);
    if (queued === undefined) return;
    queued.isClosed = true;
    this.#open.delete(key);
    this.#advance();
  }

  closeAll(): void {
    for (const key of [...this.#open.keys()]) this.close(key);
  }

  /** The events that are due, once each. */
  take(): readonly TurnEvent[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #first(): Queued | undefined {
    return this.#queue.values().next().value;
  }

  /** Ends what is let through once it is closed, and lets through what comes next. */
  #advance(): void {
    let first = this.#first();
    while (first?.isClosed) {
      this.#ready.push({ kind: 'block-stop' });
      this.#queue.delete(first);
      first = this.#first();
      if (first === undefined) return;
      this.#ready.push({ kind: 'block-start', block: first.block });
      for (const delta of first.deltas) this.#ready.push({ kind: 'delta', delta });
    }
  }
}

/** Text that waits is joined: it would have come in more pieces than there is use for. */
function hold(deltas: BlockDelta[], delta: BlockDelta): void {
  const last = deltas.at(-1);
  if (last?.kind === 'text' && delta.kind === 'text')
    deltas[deltas.length - 1] = { kind: 'text', text: last.text + delta.text };
  else deltas.push(delta);
}

const decoder = new TextDecoder();
const dataField = 'data:';

/** The event in a frame and its type; null for comments and for what is no event. */
export function readEvent(frame: Uint8Array): { readonly type: string; readonly event: WireRecord } | null {
  const event = usualEvent(decoder.decode(frame));
  const type = stringOf(event?.['type']);
  return event === null || type === null ? unusualEvent(frame) : { type, event };
}

/** Reads a frame whose last line is all of its data, as it is in practice. */
function usualEvent(text: string): WireRecord | null {
  const at = text.indexOf(dataField);
  const isLine = at === 0 || text.charAt(at - 1) === '\n';
  const value = at === -1 || !isLine ? null : parseJson(text.slice(at + dataField.length));
  return isRecord(value) ? value : null;
}

function unusualEvent(frame: Uint8Array): ReturnType<typeof readEvent> {
  const { name, data } = readSseEvent(frame);
  const event = data === null ? null : parseJson(data);
  return isRecord(event) ? { type: stringOf(event['type']) ?? name ?? '', event } : null;
}
