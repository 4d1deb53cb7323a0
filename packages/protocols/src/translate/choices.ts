import type { ChoicesReader, EventWriter } from '../codec.ts';
import type { TurnAnswer, TurnEvent } from '../turn-event.ts';
import { listOf, numberOf, recordOf, type WireRecord } from '../wire-values.ts';

/** Answers to one request that are translated. Each is read and written by itself, and the vendors with a bound have this one. */
const choicesMax = 8;

/** The way a protocol that has a word for several answers takes the request. `takesOne`: the model is known to give one only. */
export function choicesSupport(choices: number | null, takesOne = false): 'carried' | 'refused' {
  return (choices ?? 1) > (takesOne ? 1 : choicesMax) ? 'refused' : 'carried';
}

/** The indices of the answers to a request, of which there is one at least. */
function indicesOf(choices: number): readonly number[] {
  return Array.from({ length: Math.max(1, choices) }, (_, index) => index);
}

/** The parts of one answer in a list of all. A server that leaves out some indices means zero, one that leaves out all means places. */
export function choicesAt(list: unknown, index: number): readonly WireRecord[] {
  const choices = listOf(list).map(recordOf);
  const hasIndices = choices.some((choice) => numberOf(choice['index']) !== null);
  return choices.filter((choice, place) => (numberOf(choice['index']) ?? (hasIndices ? 0 : place)) === index);
}

/** Reads one of several answers from chunks that are parsed. */
interface ChunkReader {
  takeChunk(chunk: WireRecord): readonly TurnEvent[];
  end(): readonly TurnEvent[];
}

/** Reads all answers of a stream, each by a reader of its own, from chunks that are parsed once. */
export class ChunkedChoices implements ChoicesReader {
  readonly #readers: readonly ChunkReader[];
  readonly #parse: (frame: Uint8Array) => WireRecord | null;

  constructor(
    choices: number,
    parse: (frame: Uint8Array) => WireRecord | null,
    open: (index: number) => ChunkReader,
  ) {
    this.#readers = indicesOf(choices).map(open);
    this.#parse = parse;
  }

  read(frame: Uint8Array): readonly (readonly TurnEvent[])[] {
    const chunk = this.#parse(frame);
    return chunk === null ? [] : this.#readers.map((reader) => reader.takeChunk(chunk));
  }

  end(): readonly (readonly TurnEvent[])[] {
    return this.#readers.map((reader) => reader.end());
  }
}

/** All answers of a whole body, the first with the others beside it. */
export function readChoices(choices: number, read: (index: number) => TurnAnswer): TurnAnswer {
  const [first = read(0), ...others] = indicesOf(choices).map(read);
  const given = others.filter(({ content, finish }) => content.length > 0 || finish.rawReason !== null);
  return given.length === 0 ? first : { ...first, others: given };
}

/** One answer of several on its way to the caller. */
interface Choice {
  readonly writer: EventWriter;
  /** The upstream gives as many as it likes: what never came is not written. */
  isGiven: boolean;
}

/** A stream of several answers on its way from one protocol to another, a frame at a time. */
export class ChoicesTranslator {
  readonly #reader: ChoicesReader;
  readonly #choices: readonly Choice[];

  constructor(reader: ChoicesReader, writers: readonly EventWriter[]) {
    this.#reader = reader;
    this.#choices = writers.map((writer, index) => ({ writer, isGiven: index === 0 }));
  }

  frame(frame: Uint8Array): Uint8Array {
    return encoder.encode(this.#write(this.#reader.read(frame)));
  }

  /** Closes a stream that is whole: the end of the last answer is that of all. */
  end(): Uint8Array {
    const text = this.#write(this.#reader.end());
    const given = this.#choices.filter(({ isGiven }) => isGiven);
    const ends = given.map(({ writer }, place) => writer.end({}, place === given.length - 1));
    return encoder.encode(text + ends.join(''));
  }

  #write(events: readonly (readonly TurnEvent[])[]): string {
    let text = '';
    for (const [index, choice] of this.#choices.entries())
      for (const event of events[index] ?? []) text += writeTo(choice, event);
    return text;
  }
}

const encoder = new TextEncoder();

function writeTo(choice: Choice, event: TurnEvent): string {
  choice.isGiven ||= event.kind === 'block-start' || (event.kind === 'finish' && event.rawReason !== null);
  return choice.writer.write(event);
}
