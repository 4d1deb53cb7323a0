import type { BlockDelta, OpenBlock, TurnEvent } from '../turn-event.ts';

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
