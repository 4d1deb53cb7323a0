import { dropped, type Loss } from '../loss.ts';
import type { CustomTool, FunctionTool } from '../turn.ts';
import { isRecord } from '../wire-values.ts';

/**
 * A tool of free text at a target that has functions only: a function with that text as its one argument. The grammar, if
 * it has one, becomes words.
 */
export function customAsFunction(tool: CustomTool): FunctionTool {
  const { name, namespace } = tool;
  return {
    kind: 'function',
    name,
    namespace,
    description: [tool.description, ...grammarWords(tool)].filter((text) => text !== '').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: null,
    cacheTtl: null,
  };
}

/** What a grammar loses by being told in words: nothing holds the model to it. */
export function customToolLosses(tools: readonly CustomTool[], field: string): readonly Loss[] {
  const hasGrammar = tools.some((tool) => grammarWords(tool).length > 0);
  return hasGrammar ? [dropped(field, 'told to the model in words')] : [];
}

/** The input of a tool of free text as the arguments of the function in its place. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** The other way round. Arguments that are not as they were asked for are the input as they stand. */
export function unwrapInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && typeof value['input'] === 'string' ? value['input'] : text;
  } catch {
    return text;
  }
}

/** Of `{type: 'grammar', syntax, definition}` or the same within `grammar`. */
function grammarWords({ format }: CustomTool): readonly string[] {
  if (format?.['type'] !== 'grammar') return [];
  const grammar = isRecord(format['grammar']) ? format['grammar'] : format;
  const { definition, syntax } = grammar;
  if (typeof definition !== 'string') return [];
  const kind = typeof syntax === 'string' ? `${syntax} ` : '';
  return [`The input must follow this ${kind}grammar:\n${definition}`];
}
