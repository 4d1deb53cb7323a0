import { isRecord, parseJson, stringOf } from '../json.ts';

/** A tool to call, by the name it is offered under in the request, and what to send it. */
export interface ScriptedCall {
  readonly tool: string;
  /** The arguments as JSON, or the text for a custom tool. */
  readonly input: string;
}

/** One turn of the model: something to say, or tools to call at once. */
export type Step =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly calls: readonly ScriptedCall[] };

/**
 * Reads `["text", {"tool":"read","input":{…}}, [{…}, {…}]]`: text to say, a call, calls at once. An input that is a
 * string is sent as it is, anything else as its JSON.
 */
export function readSteps(text: string): readonly Step[] | undefined {
  const values = parseJson(text);
  return Array.isArray(values) ? allOf(values.map(readStep)) : undefined;
}

function readStep(value: unknown): Step | undefined {
  if (typeof value === 'string') return { kind: 'say', text: value };
  const calls = allOf((Array.isArray(value) ? value : [value]).map(readCall));
  return calls === undefined || calls.length === 0 ? undefined : { kind: 'call', calls };
}

function readCall(value: unknown): ScriptedCall | undefined {
  if (!isRecord(value)) return undefined;
  const tool = stringOf(value['tool']);
  const input = value['input'];
  if (tool === null || input === undefined) return undefined;
  return { tool, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

function allOf<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const read = values.filter((value) => value !== undefined);
  return read.length === values.length ? read : undefined;
}
