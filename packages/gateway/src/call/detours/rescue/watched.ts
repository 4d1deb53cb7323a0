import {
  type EventReader,
  type EventWriter,
  type StreamPlace,
  StreamTranslator,
  type Translation,
  type TurnEvent,
  type UpstreamRefusal,
  type WriterContext,
} from '@headgate/protocols';
import type { Wire } from '../../../catalogue/wire.ts';
import type { HeaderList } from '../../../ports/data-plane.ts';
import { StreamRelay } from '../../relay.ts';
import type { Errand } from '../../request.ts';
import { TranslatedStreamRelay } from '../translate.ts';
import { Transcript } from './transcript.ts';

/** A stream that is watched while it is relayed, so that another channel can go on with it. */
export interface Watched {
  readonly committed: boolean;
  readonly transcript: Transcript;
  /** The error in the stream; null where it just broke off. */
  readonly refusal: UpstreamRefusal | null;
  /** Goes on where the caller's stream stands; null where that is not known. */
  goOn(context: WriterContext): EventWriter | null;
}

/** The upstream's own bytes go to the caller, and are read beside that as if they were to be translated. */
export class WatchedPassthrough extends StreamRelay implements Watched {
  readonly transcript: Transcript;
  readonly #events: EventReader;
  readonly #place: StreamPlace;
  readonly #isArray: boolean;

  constructor(errand: Errand, wire: Wire, headers: HeaderList, events: EventReader, place: StreamPlace) {
    super(errand, wire, headers);
    this.transcript = new Transcript(errand.inbound.memory);
    this.#events = events;
    this.#place = place;
    this.#isArray = errand.request.framing === 'json-array';
  }

  get refusal(): UpstreamRefusal | null {
    return this.reader.refusal;
  }

  goOn(context: WriterContext): EventWriter | null {
    return this.#place.goOn(context);
  }

  protected override takeTexts(_chunk: Uint8Array, at: number): number {
    return at;
  }

  protected override toCaller(frame: Uint8Array): Uint8Array {
    const event = this.#isArray ? asEvent(frame) : frame;
    this.#place.note(event);
    this.transcript.take(this.#events.read(event));
    return super.toCaller(frame);
  }
}

/** An element of an array, with what stands before it, as the event that it would be. */
function asEvent(frame: Uint8Array): Uint8Array {
  const text = Buffer.from(frame).toString();
  try {
    return Buffer.from(`data: ${JSON.stringify(JSON.parse(text.slice(text.indexOf('{'))))}\n\n`);
  } catch {
    return frame;
  }
}

/** The events of a translation are what the caller is told, and its writer can go on with those of another. */
export class WatchedTranslation extends TranslatedStreamRelay implements Watched {
  readonly transcript: Transcript;
  readonly #writer: EventWriter;

  constructor(errand: Errand, wire: Wire, translation: Translation, headers: HeaderList) {
    const transcript = new Transcript(errand.inbound.memory);
    const writer = translation.openWriter();
    const reader = new NotedReader(translation.openReader(), transcript);
    super(errand, wire, new StreamTranslator(reader, writer), headers);
    this.transcript = transcript;
    this.#writer = writer;
  }

  get refusal(): UpstreamRefusal | null {
    return this.reader.refusal;
  }

  goOn(): EventWriter {
    return this.#writer;
  }
}

class NotedReader implements EventReader {
  readonly #inner: EventReader;
  readonly #transcript: Transcript;

  constructor(inner: EventReader, transcript: Transcript) {
    this.#inner = inner;
    this.#transcript = transcript;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    return this.#noted(this.#inner.read(frame));
  }

  readText(text: string): boolean {
    const isRead = this.#inner.readText?.(text) === true;
    if (isRead) this.#transcript.addText(text);
    return isRead;
  }

  end(): readonly TurnEvent[] {
    return this.#noted(this.#inner.end());
  }

  #noted(events: readonly TurnEvent[]): readonly TurnEvent[] {
    this.#transcript.take(events);
    return events;
  }
}
