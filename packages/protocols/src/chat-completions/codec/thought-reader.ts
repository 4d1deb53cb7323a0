import type { ReaderContext } from '../../codec.ts';
import type { BlockSequencer } from '../../translate/block-sequencer.ts';
import { isRecord, listOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { DetailCollector, sealThoughts, thoughtMembers } from './upstream-thoughts.ts';

/** Reads the thoughts in the deltas of one answer, under every name servers give them. */
export class ThoughtReader {
  readonly #context: ReaderContext;
  readonly #blocks: BlockSequencer<string | number>;
  #details = new DetailCollector();
  #member: string = thoughtMembers[0];
  #text = '';
  /** Whether the text has a member of its own, so that the details only repeat it. */
  #isPlain = false;

  constructor(context: ReaderContext, blocks: BlockSequencer<string | number>) {
    this.#context = context;
    this.#blocks = blocks;
  }

  /** Whether there is any in it. */
  isIn(delta: WireRecord): boolean {
    return detailsOf(delta).length > 0 || thoughtMembers.some((name) => (stringOf(delta[name]) ?? '') !== '');
  }

  /** Takes what is in a delta; a block is open. */
  take(delta: WireRecord): void {
    const details = detailsOf(delta);
    for (const detail of details) this.#details.add(detail);
    const member = thoughtMembers.find((name) => (stringOf(delta[name]) ?? '') !== '');
    this.#isPlain ||= member !== undefined;
    if (member !== undefined) this.add(stringOf(delta[member]) ?? '', member);
    else if (!this.#isPlain) for (const detail of details) this.add(detailText(detail), this.#member);
  }

  add(text: string, member: string): void {
    this.#member = member;
    this.#text += text;
    if (text !== '') this.#blocks.add('reasoning', { kind: 'text', text });
  }

  /** Closes the block, if one is open, with what lets it come back. */
  close(): void {
    if (!this.#blocks.has('reasoning')) return;
    const sealed = sealThoughts(this.#context.origin, {
      text: this.#text,
      member: this.#member,
      details: this.#details.entries,
    });
    this.#blocks.add('reasoning', { kind: 'sealed', sealed });
    this.#blocks.close('reasoning');
    this.#details = new DetailCollector();
    this.#text = '';
    this.#isPlain = false;
  }
}

function detailsOf(delta: WireRecord): readonly WireRecord[] {
  return listOf(delta['reasoning_details']).filter(isRecord);
}

function detailText(detail: WireRecord): string {
  return stringOf(detail['text']) ?? stringOf(detail['summary']) ?? '';
}
