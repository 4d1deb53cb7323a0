import type { WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import type { Finish, TurnEvent } from '../../turn-event.ts';
import { OutputBuilder } from './output-builder.ts';
import type { Emit } from './output-item.ts';
import { closedResponse, isCutOff, openResponse } from './response-object.ts';

const noFinish: Finish = { reason: 'unknown', rawReason: null, stopSequence: null, usage: null };

/** Makes a response out of the events of an answer, and tells its own as they arise: so whole and streamed ones agree. */
export class ResponseMaker {
  readonly #context: WriterContext;
  readonly #emit: Emit;
  readonly #output: OutputBuilder;
  #model: string;
  #finish = noFinish;
  #isStarted = false;

  constructor(context: WriterContext, emit: Emit) {
    this.#context = context;
    this.#emit = emit;
    this.#model = context.turn.model;
    this.#output = new OutputBuilder(context.traceId, emit);
  }

  take(event: TurnEvent): void {
    switch (event.kind) {
      case 'start':
        this.#model = event.model ?? this.#model;
        return this.#start();
      case 'block-start':
        this.#start();
        return this.#output.start(event.block);
      case 'delta':
        return this.#output.add(event.delta);
      case 'block-stop':
        return this.#output.stop();
      case 'finish': {
        const { kind: _, ...finish } = event;
        this.#finish = finish;
        return undefined;
      }
      default:
        return unreachable(event);
    }
  }

  /** The last item, and the response as it ended. */
  finish(): ReturnType<typeof closedResponse> {
    this.#start();
    this.#output.close(isCutOff(this.#finish) ? 'incomplete' : 'completed');
    return closedResponse(this.#context, this.#model, this.#output.items, this.#finish);
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const response = openResponse(this.#context, this.#model);
    this.#emit('created', { response });
    this.#emit('in_progress', { response });
  }
}
