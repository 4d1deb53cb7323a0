/** A chunk as servers of this protocol make it; `more` stands beside the candidates. */
export function chunk(parts: readonly object[], finishReason?: string, more: object = {}): object {
  return { candidates: [{ content: { parts, role: 'model' }, finishReason }], ...more };
}

export const text = (words: string, more: object = {}) => chunk([{ text: words }], undefined, more);

export function usage(counts: Readonly<Record<string, unknown>>): object {
  return { usageMetadata: counts, modelVersion: 'served' };
}

export const counted = usage({ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 });

/** As `alt=sse` frames them. */
export function events(chunks: readonly object[]): string {
  return chunks.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join('');
}

/** As one array, each on lines of its own. */
export function array(chunks: readonly object[]): string {
  return `[${chunks.map((value) => JSON.stringify(value, null, 2)).join('\n,\r\n')}\n]\n`;
}
