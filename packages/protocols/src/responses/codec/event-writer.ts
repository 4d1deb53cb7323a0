import type { EventWriter, WriterContext } from '../../codec.ts';
import type { TurnEvent } from '../../turn-event.ts';
import { ResponseMaker } from './response-maker.ts';

/** Writes a response as it comes: typed events, numbered from zero without a gap. */
export class ResponsesEventWriter implements EventWriter {
  readonly #maker: ResponseMaker;
  #text = '';
  #sequence = 0;

  constructor(context: WriterContext) {
    this.#maker = new ResponseMaker(context, (name, members) => this.#emit(name, members));
  }

  write(event: TurnEvent): string {
    this.#maker.take(event);
    return this.#taken();
  }

  end(): string {
    const { status, response } = this.#maker.finish();
    this.#emit(status, { response });
    return this.#taken();
  }

  #emit(name: string, members: object): void {
    const type = `response.${name}`;
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...members });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  #taken(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
