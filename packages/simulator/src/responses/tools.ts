import type { Tool, ToolChoice } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { isRecord, listOf, recordOf, stringOf } from '../json.ts';
import { inputItems, itemType } from './input-items.ts';

/** The tools a caller runs itself: functions and custom tools, in groups or not. Tools the vendor runs are not called. */
export function readTools(request: JsonRecord): readonly Tool[] {
  const added = inputItems(request).filter((item) => itemType(item) === 'additional_tools');
  return [request, ...added].flatMap((place) => listOf(place['tools']).flatMap(readTool));
}

function readTool(value: unknown): readonly Tool[] {
  const tool = recordOf(value);
  const name = stringOf(tool['name']);
  if (name === null) return [];
  switch (tool['type']) {
    case 'function':
    case 'custom':
      return [{ kind: tool['type'], name, schema: tool['parameters'] ?? { type: 'object' } }];
    case 'namespace':
      return listOf(tool['tools'])
        .flatMap(readTool)
        .map((member) => ({ ...member, namespace: name }));
    default:
      return [];
  }
}

export function readToolChoice(value: unknown): ToolChoice {
  if (value === 'none') return { kind: 'none' };
  if (value === 'required') return { kind: 'required' };
  if (!isRecord(value)) return { kind: 'auto' };
  const allowed = value['type'] === 'allowed_tools';
  if (allowed && value['mode'] !== 'required') return { kind: 'auto' };
  const name = stringOf((allowed ? recordOf(listOf(value['tools'])[0]) : value)['name']);
  return name === null ? { kind: 'auto' } : { kind: 'named', name };
}
