import type { Citation } from '../../turn.ts';

/** A citation, and the part of the answer it belongs to. */
export interface PlacedCitation {
  readonly citation: Citation;
  readonly partIndex: number;
  readonly text: string;
}

const encoder = new TextEncoder();

/** The wire's `groundingMetadata`; only what has an address can be named here. */
export function writeGrounding(placed: readonly PlacedCitation[]): object {
  const named = placed.filter(({ citation }) => citation.url !== null);
  if (named.length === 0) return {};
  const sources = [...new Map(named.map(({ citation }) => [citation.url, citation])).values()];
  const indexes = new Map(sources.map(({ url }, index) => [url, index]));
  return {
    groundingMetadata: {
      groundingChunks: sources.map(({ url, title }) => ({ web: { uri: url, title: title ?? url } })),
      groundingSupports: named.map((each) => ({
        segment: segmentOf(each),
        groundingChunkIndices: [indexes.get(each.citation.url) ?? 0],
      })),
    },
  };
}

/** Positions are bytes of UTF-8 on this wire; a citation without them is of the whole text. */
function segmentOf({ citation, partIndex, text }: PlacedCitation): object {
  const start = citation.start ?? 0;
  const end = citation.end ?? text.length;
  return {
    partIndex,
    startIndex: byteLength(text.slice(0, start)),
    endIndex: byteLength(text.slice(0, end)),
    text: text.slice(start, end),
  };
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
