import { unreachable } from '../result.ts';
import type { Citation, Sealed } from '../turn.ts';
import { type Finish, noFinish, type OpenBlock, type TurnEvent } from '../turn-event.ts';

/** How an answer begins. */
export type Start = Extract<TurnEvent, { kind: 'start' }>;

/** Writes one answer from its events, in their order. `Made` is what comes of each; the end is only noted. */
export abstract class AnswerWriter<Made> {
  protected finish: Finish = noFinish;
  readonly #nothing: Made;

  constructor(nothing: Made) {
    this.#nothing = nothing;
  }

  write(event: TurnEvent): Made {
    switch (event.kind) {
      case 'start':
        return this.start(event);
      case 'block-start':
        return this.open(event.block);
      case 'delta':
        return this.#add(event.delta);
      case 'block-stop':
        return this.close();
      case 'finish': {
        const { kind: _, ...finish } = event;
        this.finish = finish;
        return this.#nothing;
      }
      default:
        return unreachable(event);
    }
  }

  protected abstract start(event: Start): Made;
  protected abstract open(block: OpenBlock): Made;
  /** Never the empty text. */
  protected abstract addText(text: string): Made;
  protected abstract addCitation(citation: Citation): Made;
  protected abstract addSeal(sealed: Sealed): Made;
  protected abstract close(): Made;

  #add(delta: Extract<TurnEvent, { kind: 'delta' }>['delta']): Made {
    switch (delta.kind) {
      case 'text':
        return delta.text === '' ? this.#nothing : this.addText(delta.text);
      case 'citation':
        return this.addCitation(delta.citation);
      case 'sealed':
        return this.addSeal(delta.sealed);
      default:
        return unreachable(delta);
    }
  }
}
