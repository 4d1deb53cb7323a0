import type { PlayPiece } from './surfaces.ts';

const frameMs = 16;
/** The page rests so much longer than it draws. */
const restFactor = 3;

/**
 * Gathers the pieces of an answer and draws them together. A long answer that comes at once leaves the page most of its time for whoever
 * reads it, stops it, or goes on typing.
 */
export class Gathered {
  readonly #draw: (pieces: readonly PlayPiece[]) => void;
  #waiting: PlayPiece[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #restMs = frameMs;

  constructor(draw: (pieces: readonly PlayPiece[]) => void) {
    this.#draw = draw;
  }

  add(piece: PlayPiece): void {
    const last = this.#waiting.at(-1);
    if (isText(last) && isText(piece) && last.kind === piece.kind)
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + piece.text };
    else this.#waiting.push(piece);
    this.#timer ??= setTimeout(() => this.flush(), this.#restMs);
  }

  /** Draws what has come, at once. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const pieces = this.#waiting;
    if (pieces.length === 0) return;
    this.#waiting = [];
    const begunAt = performance.now();
    this.#draw(pieces);
    requestAnimationFrame(() => {
      this.#restMs = Math.max(frameMs, restFactor * (performance.now() - begunAt));
    });
  }
}

function isText(
  piece: PlayPiece | undefined,
): piece is Extract<PlayPiece, { readonly kind: 'text' | 'thinking' }> {
  return piece?.kind === 'text' || piece?.kind === 'thinking';
}
