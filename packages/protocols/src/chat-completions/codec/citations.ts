import type { Citation } from '../../turn.ts';
import { numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/** `{type: 'url_citation', url_citation: {url, title, start_index, end_index}}`; null for any other annotation. */
export function readCitation(annotation: WireRecord): Citation | null {
  const cited = recordOf(annotation['url_citation']);
  const url = stringOf(cited['url']);
  if (annotation['type'] !== 'url_citation' || url === null) return null;
  return {
    url,
    title: stringOf(cited['title']),
    quote: stringOf(cited['content']),
    start: numberOf(cited['start_index']),
    end: numberOf(cited['end_index']),
  };
}

/**
 * The annotation of a text that begins at `offset` of the whole content and is `length` characters long; positions are the
 * content's here. Null for a citation of something that has no address.
 */
export function writeCitation(citation: Citation, offset: number, length: number): WireRecord | null {
  const { url, title, quote, start, end } = citation;
  if (url === null) return null;
  return {
    type: 'url_citation',
    url_citation: {
      url,
      title: title ?? url,
      start_index: offset + (start ?? 0),
      end_index: offset + (end ?? length),
      content: quote ?? undefined,
    },
  };
}
