import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/** A result of a search that the caller has made, as the text it amounts to. */
export function flattenSearchResult(wire: WireRecord): string {
  const head = [stringOf(wire['title']), stringOf(wire['source'])].filter(isFilled).join('\n');
  return `[search result]\n${[head, ...textsIn(wire['content'])].filter(isFilled).join('\n')}`;
}

/**
 * A block of a tool that the vendor itself runs, as text that any model can read; null for one that has none. What is
 * encrypted in it stays out (translation-map.md, 2).
 */
export function flattenHosted(wire: WireRecord): string | null {
  const type = stringOf(wire['type']) ?? '';
  if (type === 'compaction') return stringOf(wire['content']);
  if (type === 'tool_reference') return `[tool: ${stringOf(wire['tool_name']) ?? ''}]`;
  if (type === 'server_tool_use' || type === 'mcp_tool_use') return flattenCall(wire);
  if (!type.endsWith('_tool_result')) return null;
  const texts = textsIn(wire['content']).filter(isFilled);
  return `[${type.replaceAll('_', ' ')}]\n${texts.join('\n')}`.trim();
}

function flattenCall(wire: WireRecord): string {
  return `[${stringOf(wire['name']) ?? 'tool'}: ${JSON.stringify(recordOf(wire['input']))}]`;
}

/** Members of results that are there to be read. */
const readable = ['title', 'url', 'text', 'stdout', 'stderr', 'data', 'error_code', 'tool_name'] as const;

/** The texts of a result, of the lists and results within it too. The request is nested no deeper than can be walked. */
function textsIn(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return listOf(content).flatMap(textsIn);
  if (!isRecord(content) || content['type'] === 'base64') return [];
  const own = readable.flatMap((name) => stringOf(content[name]) ?? []);
  const inner = ['content', 'source', 'tool_references'].flatMap((name) => textsIn(content[name]));
  return [...own, ...inner];
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== '';
}
