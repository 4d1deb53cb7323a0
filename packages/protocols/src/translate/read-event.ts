import { readSseEvent } from '../bytes/sse.ts';
import { parseJson } from '../refusal.ts';
import { isRecord, stringOf, type WireRecord } from '../wire-values.ts';

const decoder = new TextDecoder();
const dataField = 'data:';

/** The event in a frame and its type; null for comments and for what is no event. */
export function readEvent(frame: Uint8Array): { readonly type: string; readonly event: WireRecord } | null {
  const event = usualEvent(decoder.decode(frame));
  const type = stringOf(event?.['type']);
  return event === null || type === null ? unusualEvent(frame) : { type, event };
}

/** Of a frame whose last line is all of its data, as it is in practice. */
function usualEvent(text: string): WireRecord | null {
  const at = text.indexOf(dataField);
  const isLine = at === 0 || text.charAt(at - 1) === '\n';
  const value = at === -1 || !isLine ? null : parseJson(text.slice(at + dataField.length));
  return isRecord(value) ? value : null;
}

function unusualEvent(frame: Uint8Array): ReturnType<typeof readEvent> {
  const { name, data } = readSseEvent(frame);
  const event = data === null ? null : parseJson(data);
  return isRecord(event) ? { type: stringOf(event['type']) ?? name ?? '', event } : null;
}
