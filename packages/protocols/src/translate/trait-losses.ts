import type { ProtocolId } from '../inbound-request.ts';
import { dropped, type Loss } from '../loss.ts';
import { unreachable } from '../result.ts';
import type { Block, MediaBlock, Turn } from '../turn.ts';
import { type Trait, traitField } from './caller-fields.ts';

/** What a target does with what content bears. */
export type TraitSupport = Readonly<Record<Trait, 'carried' | 'dropped'>>;

/**
 * The losses of what blocks and tools bear beside their content, at a target of another protocol. Every codec declares all
 * of it, so that nothing is forgotten; only what is there counts.
 */
export function traitLosses(turn: Turn, target: ProtocolId, support: TraitSupport): readonly Loss[] {
  if (turn.surface === target) return [];
  const lost = [...traitsOf(turn)].filter((trait) => support[trait] === 'dropped');
  return lost.map((trait) => dropped(traitField(turn.surface, trait), noteOf(trait)));
}

function noteOf(trait: Trait): string | null {
  return trait === 'cache-mark' ? 'prefixes are cached without it' : null;
}

function traitsOf({ system, tools, messages }: Turn): ReadonlySet<Trait> {
  const found = new Set<Trait>();
  for (const block of system) noteBlock(block, found);
  for (const tool of tools) if (tool.kind === 'function') noteCache(tool, found);
  for (const { content } of messages) for (const block of content) noteBlock(block, found);
  return found;
}

function noteBlock(block: Block, found: Set<Trait>): void {
  switch (block.kind) {
    case 'text':
      if (block.citations.length > 0) found.add('citations');
      return noteCache(block, found);
    case 'media':
      noteMedia(block, found);
      return noteCache(block, found);
    case 'tool-result':
      for (const part of block.content) noteBlock(part, found);
      return noteCache(block, found);
    case 'tool-call':
      // What another target has sealed is left out without a word: it is of no use to the caller either.
      if (block.sealed?.origin === 'native') found.add('call-seal');
      return;
    case 'reasoning':
    case 'refusal':
      return;
    default:
      return unreachable(block);
  }
}

function noteCache({ cacheTtl }: { readonly cacheTtl: unknown }, found: Set<Trait>): void {
  if (cacheTtl !== null) found.add('cache-mark');
}

function noteMedia({ media, detail, filename, source }: MediaBlock, found: Set<Trait>): void {
  if (detail === 'low' || detail === 'high') found.add('image-detail');
  // The name of a text is sent as its first line.
  if (filename === null || filename === '' || source.kind === 'text') return;
  found.add(media === 'file' ? 'filename' : 'media-name');
}
