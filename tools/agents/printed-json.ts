/** The value a text is the JSON of, or undefined when it is none. */
export function printedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
