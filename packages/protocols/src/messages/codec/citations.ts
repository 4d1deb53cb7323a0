import type { Citation } from '../../turn.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/** The citations of a block of text; null and anything that is no list are none. */
export function readCitations(wire: unknown): readonly Citation[] {
  return listOf(wire).map((citation) => readCitation(recordOf(citation)));
}

/**
 * Where a statement is from, whatever kind of source it is. The wire counts characters, pages and blocks of the source,
 * not of the answer, so no place in the answer is told.
 */
export function readCitation(wire: WireRecord): Citation {
  const source = stringOf(wire['source']);
  return {
    url: stringOf(wire['url']) ?? (source !== null && /^https?:/.test(source) ? source : null),
    title: stringOf(wire['title']) ?? stringOf(wire['document_title']),
    quote: stringOf(wire['cited_text']),
    start: null,
    end: null,
  };
}

/** A source on the web is a result of a search; any other one is a document. */
export function writeCitation({ url, title, quote }: Citation): WireRecord {
  const cited_text = quote ?? '';
  if (url !== null)
    return { type: 'web_search_result_location', url, title, cited_text, encrypted_index: '' };
  return {
    type: 'char_location',
    cited_text,
    document_index: 0,
    document_title: title,
    start_char_index: 0,
    end_char_index: cited_text.length,
    file_id: null,
  };
}
