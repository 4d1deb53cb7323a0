import { unreachable } from '../result.ts';
import type { Block, Citation, Sealed } from '../turn.ts';
import type { BlockDelta, Finish, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';

/** A block as far as its deltas have come. */
interface Growing {
  readonly open: OpenBlock;
  text: string;
  readonly citations: Citation[];
  sealed: Sealed | null;
}

const noFinish: Finish = { reason: 'unknown', rawReason: null, stopSequence: null, usage: null };

/** Puts an answer together from its events. Each is taken once; a block that was never closed counts as it stands. */
class AnswerCollector {
  #answerId: string | null = null;
  #model: string | null = null;
  #finish = noFinish;
  #growing: Growing | null = null;
  readonly #content: Block[] = [];

  take(event: TurnEvent): void {
    switch (event.kind) {
      case 'start':
        this.#answerId = event.answerId;
        this.#model = event.model;
        break;
      case 'block-start':
        this.#close();
        this.#growing = { open: event.block, text: '', citations: [], sealed: null };
        break;
      case 'delta':
        if (this.#growing !== null) grow(this.#growing, event.delta);
        break;
      case 'block-stop':
        this.#close();
        break;
      case 'finish': {
        const { kind: _, ...finish } = event;
        this.#finish = finish;
        break;
      }
      default:
        unreachable(event);
    }
  }

  answer(): TurnAnswer {
    this.#close();
    return {
      answerId: this.#answerId,
      model: this.#model,
      content: [...this.#content],
      finish: this.#finish,
    };
  }

  #close(): void {
    if (this.#growing !== null) this.#content.push(closedBlock(this.#growing));
    this.#growing = null;
  }
}

export function collectAnswer(events: Iterable<TurnEvent>): TurnAnswer {
  const collector = new AnswerCollector();
  for (const event of events) collector.take(event);
  return collector.answer();
}

function grow(block: Growing, delta: BlockDelta): void {
  switch (delta.kind) {
    case 'text':
      block.text += delta.text;
      break;
    case 'citation':
      block.citations.push(delta.citation);
      break;
    case 'sealed':
      block.sealed = delta.sealed;
      break;
    default:
      unreachable(delta);
  }
}

/** The block that has been opened and filled. */
function closedBlock({ open, text, citations, sealed }: Growing): Block {
  switch (open.kind) {
    case 'text':
      return { kind: 'text', text, citations, cacheTtl: null };
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
