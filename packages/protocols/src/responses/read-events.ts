import type { EventReader, ReaderContext } from '../codec.ts';
import { parseJson } from '../refusal.ts';
import { type AnswerBlock, BlockSequencer, deltasOf, openingOf, readEvent } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { listOf, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { blockOfPart, blocksOfItem, callOf, finishOf, readCitation } from './read-parts.ts';

/** A block as far as it has been told. */
interface Told {
  hasText: boolean;
  hasCitations: boolean;
  isWhole: boolean;
  /** The part of the item that the last text was from: a summary has several. */
  lastPart: string | null;
}

/** The kind of a block that opens with its first text. */
type TextKind = 'text' | 'refusal' | 'reasoning';

/**
 * Reads a response as it comes. A block opens with its first delta. What its last event repeats is told only as far as the
 * deltas have not told it, since servers leave out one or the other; items are told apart by their index, because some
 * change the ids on the way.
 */
export class ResponsesEventReader implements EventReader {
  readonly #context: ReaderContext;
  readonly #blocks = new BlockSequencer<string>();
  readonly #told = new Map<string, Told>();
  readonly #kinds = new Set<Block['kind']>();
  readonly #places = new ItemPlaces();
  #isStarted = false;
  #finish: Finish | null = null;
  #events: TurnEvent[] = [];

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const read = readEvent(frame);
    if (read !== null && this.#finish === null) this.#take(read.type, read.event);
    return this.#taken();
  }

  readText(): boolean {
    return this.#finish === null;
  }

  end(): readonly TurnEvent[] {
    if (this.#finish === null) this.#close({});
    return this.#taken();
  }

  #taken(): readonly TurnEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #take(type: string, event: WireRecord): void {
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(recordOf(event['response']));
      case 'response.output_item.added':
        return this.#openItem(event);
      case 'response.output_item.done':
        return this.#closeItem(recordOf(event['item']), this.#places.of(event));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#close(recordOf(event['response']));
      default:
        return isEnded(recordOf(event['response']))
          ? this.#close(recordOf(event['response']))
          : this.#takeDelta(type, event);
    }
  }

  #takeDelta(type: string, event: WireRecord): void {
    switch (type) {
      case 'response.output_text.delta':
        return this.#addText('text', this.#partKey(event), event);
      case 'response.refusal.delta':
        return this.#addText('refusal', this.#partKey(event), event);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return this.#addThoughts(type, event);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#addToCall(event);
      case 'response.output_text.annotation.added':
        return this.#addCitation(event);
      case 'response.content_part.done':
        return this.#closePart(event);
      default:
        // Others repeat what deltas said, or tell how far a tool of the vendor's has come.
        return undefined;
    }
  }

  #start(response: WireRecord): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const answerId = stringOf(response['id']);
    this.#events.push({ kind: 'start', answerId, model: stringOf(response['model']), usage: null });
  }

  /** A call is something before its arguments come; every other item is nothing until text does. */
  #openItem(event: WireRecord): void {
    const item = recordOf(event['item']);
    const index = this.#places.open(event);
    const isCall = item['type'] === 'function_call' || item['type'] === 'custom_tool_call';
    if (!isCall || (stringOf(item['name']) ?? '') === '') return;
    this.#open(keyOf(index), openingOf(callOf(item, index, this.#context)));
  }

  #open(key: string, block: OpenBlock): Told {
    this.#start({});
    const told = { hasText: false, hasCitations: false, isWhole: false, lastPart: null };
    this.#told.set(key, told);
    this.#kinds.add(block.kind);
    this.#blocks.open(key, block);
    this.#pass();
    return told;
  }

  #pass(): void {
    this.#events.push(...this.#blocks.take());
  }

  #addText(kind: TextKind, key: string, event: WireRecord): void {
    const text = stringOf(event['delta']) ?? '';
    if (text === '') return;
    const told = this.#told.get(key) ?? this.#open(key, { kind });
    this.#addTo(key, told, text);
  }

  #addTo(key: string, told: Told, text: string): void {
    told.hasText = true;
    this.#blocks.add(key, { kind: 'text', text });
    this.#pass();
  }

  /** Thoughts come in full or summed up; of both, the first to come are told. Their parts are paragraphs. */
  #addThoughts(type: string, event: WireRecord): void {
    const text = stringOf(event['delta']) ?? '';
    if (text === '') return;
    const key = keyOf(this.#places.of(event));
    const told = this.#told.get(key) ?? this.#open(key, { kind: 'reasoning' });
    const family = type.includes('summary') ? 'summary' : 'full';
    const part = `${family}/${numberOf(event[family === 'summary' ? 'summary_index' : 'content_index']) ?? 0}`;
    if (told.lastPart?.startsWith(family) === false) return;
    const isNext = told.lastPart !== null && told.lastPart !== part;
    told.lastPart = part;
    this.#addTo(key, told, isNext ? `\n\n${text}` : text);
  }

  #addToCall(event: WireRecord): void {
    const key = keyOf(this.#places.of(event));
    const told = this.#told.get(key);
    const text = stringOf(event['delta']) ?? '';
    // One that has not been opened has no name yet; its last event has it all.
    if (told !== undefined && text !== '') this.#addTo(key, told, text);
  }

  #addCitation(event: WireRecord): void {
    const key = this.#partKey(event);
    const told = this.#told.get(key);
    const citation = readCitation(recordOf(event['annotation']));
    if (told === undefined || citation === null) return;
    told.hasCitations = true;
    this.#blocks.add(key, { kind: 'citation', citation });
    this.#pass();
  }

  #closePart(event: WireRecord): void {
    const block = blockOfPart(recordOf(event['part']));
    if (block !== null) this.#closeBlock(this.#partKey(event), block);
  }

  #closeItem(item: WireRecord, index: number): void {
    const blocks = [...blocksOfItem(item, index, this.#context)];
    const said = blocks.filter(([, { kind }]) => kind === 'text' || kind === 'refusal');
    const keys = this.#keysOfParts(
      said.map(([part]) => keyOf(index, part)),
      index,
    );
    for (const [, block] of blocks) {
      const place = said.findIndex(([, other]) => other === block);
      this.#closeBlock(keys[place] ?? keyOf(index), block);
    }
  }

  /**
   * The keys under which the parts of a whole item were told. Some servers go on counting parts from one item to the next, so that
   * a part's place in its item is not the number that its deltas had: then they are the same in their order.
   */
  #keysOfParts(usual: readonly string[], index: number): readonly string[] {
    const told = [...this.#told.keys()].filter((key) => key.startsWith(`${index}/`));
    if (told.every((key) => usual.includes(key))) return usual;
    return usual.map((key, place) => told[place] ?? key);
  }

  /** Tells what of the whole block has not been told. */
  #closeBlock(key: string, block: AnswerBlock): void {
    const told = this.#told.get(key) ?? this.#open(key, openingOf(block));
    if (told.isWhole) return;
    told.isWhole = true;
    for (const delta of deltasOf(block)) {
      const isTold = delta.kind === 'text' ? told.hasText : delta.kind === 'citation' && told.hasCitations;
      if (!isTold) this.#blocks.add(key, delta);
    }
    this.#blocks.close(key);
    this.#pass();
  }

  /** The end. Some servers send no events but this one. */
  #close(response: WireRecord): void {
    this.#start(response);
    const isSilent = this.#told.size === 0;
    const hasCalls = this.#kinds.has('tool-call');
    for (const [index, value] of listOf(response['output']).entries()) {
      const item = recordOf(value);
      if (isSilent) this.#closeItem(item, index);
      else if (!hasCalls) this.#closeCall(item, index);
    }
    this.#blocks.closeAll();
    this.#pass();
    this.#finish = finishOf(response, this.#kinds);
    this.#events.push({ kind: 'finish', ...this.#finish });
  }

  /**
   * Some servers tell texts as they come, and calls only at the end. Others give the calls that they have told new ids there, by which
   * nobody could know them again, and they would be made twice.
   */
  #closeCall(item: WireRecord, index: number): void {
    for (const [, block] of blocksOfItem(item, index, this.#context))
      if (block.kind === 'tool-call') this.#closeBlock(`call ${index}`, block);
  }

  #partKey(event: WireRecord): string {
    return keyOf(this.#places.of(event), numberOf(event['content_index']) ?? 0);
  }
}

/** Some servers tell the end under another name. */
function isEnded({ status }: WireRecord): boolean {
  return status === 'completed' || status === 'incomplete';
}

/** The places of items in the output. Servers that do not number them tell them apart by their ids, or by their order alone. */
class ItemPlaces {
  readonly #byId = new Map<string, number>();
  #count = 0;

  /** An item begins. */
  open(event: WireRecord): number {
    const place = numberOf(event['output_index']) ?? this.#count;
    const id = stringOf(recordOf(event['item'])['id']) ?? '';
    if (id !== '') this.#byId.set(id, place);
    this.#count = Math.max(this.#count, place + 1);
    return place;
  }

  of(event: WireRecord): number {
    const id = stringOf(event['item_id']) ?? stringOf(recordOf(event['item'])['id']) ?? '';
    return numberOf(event['output_index']) ?? this.#byId.get(id) ?? Math.max(0, this.#count - 1);
  }
}

function keyOf(index: number, part: number | null = null): string {
  return part === null ? `${index}` : `${index}/${part}`;
}

const decoder = new TextDecoder();

/** A whole response. */
export function readTurnAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const response = recordOf(parseJson(decoder.decode(body)));
  const content = listOf(response['output']).flatMap((item, index) => [
    ...blocksOfItem(recordOf(item), index, context).values(),
  ]);
  return {
    answerId: stringOf(response['id']),
    model: stringOf(response['model']),
    content,
    finish: finishOf(response, new Set(content.map(({ kind }) => kind))),
  };
}
