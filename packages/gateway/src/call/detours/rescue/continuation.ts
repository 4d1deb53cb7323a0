import {
  type EventReader,
  type EventWriter,
  type Message,
  StreamTranslator,
  type Translation,
  type Turn,
  type TurnEvent,
  textBlock,
  type Usage,
} from '@headgate/protocols';
import { firmPart, Seam, type SeamWay } from './seam.ts';

/** Characters of the last words that a model is asked to say again. */
const repeatedMax = 80;

/** A request for the rest of an answer. `outputTokensMax`: left of what the caller allows; null where it allows any number. */
export function askForRest(turn: Turn, said: string, way: SeamWay, outputTokensMax: number | null): Turn {
  const words = firmPart(said);
  const messages = [...turn.messages, spoken('assistant', words)];
  if (way === 'asked') messages.push(spoken('user', requestToGoOn(words)));
  return {
    ...turn,
    messages,
    settings: {
      ...turn.settings,
      maxOutputTokens: outputTokensMax,
      // It has been thought already, and a model that thinks takes no beginning of its answer.
      reasoning: { effort: 'none', budgetTokens: null, shown: null },
    },
  };
}

function spoken(role: Message['role'], text: string): Message {
  return { role, content: [textBlock(text)], name: null };
}

/** All that such a request says beside the caller's own words. */
export function wordsBeside(said: string, way: SeamWay): string {
  const words = firmPart(said);
  return way === 'asked' ? words + requestToGoOn(words) : words;
}

function requestToGoOn(words: string): string {
  return `The connection broke in the middle of your last message. Go on with it exactly where it stops, in the same form, and to its end. Begin with its last words, letter for letter, and say nothing about this request. Its last words are:\n\n${lastWords(words)}`;
}

/** From the beginning of a word, where one begins there. */
function lastWords(words: string): string {
  if (words.length <= repeatedMax) return words;
  const end = words.slice(-repeatedMax);
  return end.replace(/^[\udc00-\udfff]/, '').replace(/^\S{0,40}\s+(?=\S)/, '');
}

/** The seam of an answer and its continuation, as far as its text is told apart: what was given on of it. */
export class Continuation {
  readonly way: SeamWay;
  readonly #seam: Seam;
  /** The end of what has been said, in which a text that stops an answer may have begun. */
  #tail: string;
  /** Characters of the continuation within which such a text may end. */
  #watched: number;
  readonly #stops: readonly string[];
  /** The text that stopped the answer across the seam. */
  stoppedBy: string | null = null;
  /** The caller's stream has been gone on with, even if nothing of that has been sent yet. */
  isWritten = false;
  /** Characters that the model has said, and those of them that were new. */
  produced = 0;
  delivered = 0;

  constructor(said: string, way: SeamWay, stops: readonly string[]) {
    this.way = way;
    this.#seam = new Seam(said, way);
    this.#stops = stops.filter((stop) => stop !== '');
    const longest = Math.max(0, ...this.#stops.map(({ length }) => length));
    this.#watched = Math.max(0, longest - 1);
    this.#tail = this.#watched === 0 ? '' : said.slice(-this.#watched);
  }

  get hasFailed(): boolean {
    return this.#seam.hasFailed;
  }

  get isOpen(): boolean {
    return this.#seam.isOpen;
  }

  take(text: string): string {
    this.produced += text.length;
    return this.#give(this.#seam.take(text));
  }

  end(): string {
    return this.#give(this.#seam.end());
  }

  #give(text: string): string {
    const given = this.stoppedBy === null ? this.#beforeStop(text) : '';
    this.delivered += given.length;
    return given;
  }

  /** A model stops at the texts that are in its own words, and does not know of one that began in those of another. */
  #beforeStop(text: string): string {
    if (this.#watched <= 0 || text === '') return text;
    const seen = this.#tail + text;
    const before = this.#tail.length;
    const found = this.#stops
      .map((stop) => ({ stop, at: seen.indexOf(stop) }))
      .filter(({ stop, at }) => at !== -1 && at < before && at + stop.length > before)
      .sort((a, b) => a.at - b.at)[0];
    this.#watched -= text.length;
    this.#tail = seen;
    if (found === undefined) return text;
    this.stoppedBy = found.stop;
    return seen.slice(before, Math.max(before, found.at));
  }
}

/** Reads the continuation as the rest of a text that is open: its beginning, its thoughts and what is repeated are left out. */
class ContinuationReader implements EventReader {
  readonly #inner: EventReader;
  readonly #text: Continuation;
  readonly #usageOf: (usage: Usage) => Usage;
  /** The block of the continuation that is open; `text` goes into the one that the caller has open. */
  #open: 'none' | 'text' | 'thought' | 'other' = 'none';
  #isTextOpen = true;

  /** `usageOf`: the usage of the whole answer, by that of the continuation. */
  constructor(inner: EventReader, text: Continuation, usageOf: (usage: Usage) => Usage) {
    this.#inner = inner;
    this.#text = text;
    this.#usageOf = usageOf;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    return this.#inner.read(frame).flatMap((event) => this.#take(event));
  }

  end(): readonly TurnEvent[] {
    return this.#inner.end().flatMap((event) => this.#take(event));
  }

  #take(event: TurnEvent): readonly TurnEvent[] {
    if (this.#text.hasFailed) return [];
    switch (event.kind) {
      case 'start':
        return [];
      case 'block-start':
        return this.#begin(event);
      case 'delta':
        return this.#add(event);
      case 'block-stop':
        return this.#stop(event);
      case 'finish':
        return this.#finish(event);
    }
  }

  #begin(event: Extract<TurnEvent, { kind: 'block-start' }>): readonly TurnEvent[] {
    const { kind } = event.block;
    if (kind === 'reasoning' || this.#text.stoppedBy !== null) this.#open = 'thought';
    else if (kind === 'text' && this.#isTextOpen) this.#open = 'text';
    else this.#open = 'other';
    if (this.#open !== 'other') return [];
    const rest = this.#closeText();
    // Nothing comes behind words that do not join, or that were to be the last.
    if (!this.#text.hasFailed && this.#text.stoppedBy === null) return [...rest, event];
    this.#open = 'thought';
    return rest;
  }

  #add(event: Extract<TurnEvent, { kind: 'delta' }>): readonly TurnEvent[] {
    if (this.#open === 'other') return [event];
    // Places of citations are counted from the beginning of a text, which this is not.
    return this.#open === 'text' && event.delta.kind === 'text'
      ? said(this.#text.take(event.delta.text))
      : [];
  }

  #stop(event: TurnEvent): readonly TurnEvent[] {
    const isOther = this.#open === 'other';
    this.#open = 'none';
    return isOther ? [event] : [];
  }

  #finish(event: Extract<TurnEvent, { kind: 'finish' }>): readonly TurnEvent[] {
    const rest = this.#closeText();
    const { stoppedBy } = this.#text;
    const usage = event.usage === null ? null : this.#usageOf(event.usage);
    const finish = { ...event, usage };
    if (stoppedBy === null) return [...rest, finish];
    return [...rest, { ...finish, reason: 'stop', stopSequence: stoppedBy }];
  }

  #closeText(): readonly TurnEvent[] {
    if (!this.#isTextOpen) return [];
    this.#isTextOpen = false;
    const rest = said(this.#text.end());
    return this.#text.hasFailed ? [] : [...rest, { kind: 'block-stop' }];
  }
}

function said(text: string): readonly TurnEvent[] {
  return text === '' ? [] : [{ kind: 'delta', delta: { kind: 'text', text } }];
}

/** Our own word on an answer, which no protocol has one for. */
const mark = { headgate: { rescued: true } };

/** Reads the answer of the translation, and goes on with it in the words of the writer. */
export function openContinuation(
  translation: Translation,
  text: Continuation,
  usageOf: (usage: Usage) => Usage,
  writer: EventWriter,
): StreamTranslator {
  const reader = new ContinuationReader(translation.openReader(), text, usageOf);
  const write = (event: TurnEvent): string => {
    text.isWritten = true;
    return writer.write(event);
  };
  return new StreamTranslator(reader, { write, end: () => writer.end(mark) });
}
