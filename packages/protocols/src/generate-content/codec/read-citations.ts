import type { Citation } from '../../turn.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * What a candidate says of where its text comes from: `groundingMetadata` for what was searched, `citationMetadata` for what
 * was recited. `text`: as far as the block goes that is cited.
 */
export function readCitations(candidate: WireRecord, text: string): readonly Citation[] {
  const grounding = recordOf(candidate['groundingMetadata']);
  const recited = recordOf(candidate['citationMetadata']);
  const sources = [...listOf(recited['citationSources']), ...listOf(recited['citations'])];
  if (grounding['groundingSupports'] === undefined && sources.length === 0) return [];
  const bytes = encoder.encode(text);
  return [
    ...listOf(grounding['groundingSupports']).flatMap((support) =>
      readSupport(recordOf(support), listOf(grounding['groundingChunks']), bytes),
    ),
    ...sources.filter(isRecord).map((source) => citationOf(source, source, bytes)),
  ];
}

/** One citation for each source of a segment. */
function readSupport(
  support: WireRecord,
  chunks: readonly unknown[],
  bytes: Uint8Array,
): readonly Citation[] {
  const segment = recordOf(support['segment']);
  return listOf(support['groundingChunkIndices']).flatMap((index) => {
    const chunk = recordOf(typeof index === 'number' ? chunks[index] : undefined);
    const source = chunk['web'] ?? chunk['retrievedContext'] ?? chunk['maps'];
    return isRecord(source) ? [citationOf(source, segment, bytes)] : [];
  });
}

/** A segment that has an end and no start starts where the text does: zero is left out. */
function citationOf(source: WireRecord, segment: WireRecord, bytes: Uint8Array): Citation {
  const end = numberOf(segment['endIndex']);
  return {
    url: stringOf(source['uri']),
    title: stringOf(source['title']),
    quote: stringOf(segment['text']),
    start: end === null ? null : characterAt(bytes, numberOf(segment['startIndex']) ?? 0),
    end: end === null ? null : characterAt(bytes, end),
  };
}

/** Positions are bytes of UTF-8 on this wire. */
function characterAt(bytes: Uint8Array, at: number): number {
  return decoder.decode(bytes.subarray(0, Math.max(0, at))).length;
}
