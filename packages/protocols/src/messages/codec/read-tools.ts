import type { TurnNotes } from '../../translate/turn-notes.ts';
import type { Tool, ToolChoice } from '../../turn.ts';
import { booleanOf, isRecord, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readCacheTtl } from './cache-control.ts';

/**
 * Tools of the vendor's own that help a model where they are: without them it does with what else it has. Any other type is
 * one that the caller carries out itself and counts on.
 */
const optionalTools = /^(web_search|web_fetch|code_execution|tool_search_tool)_/;

/** The caller's own tools. What only this vendor has is left out beside others, and refused where it is all there is or forced. */
export function readTools(wire: readonly unknown[], choice: unknown, notes: TurnNotes): readonly Tool[] {
  const given = wire.map(recordOf);
  const own = given.filter(isCustom);
  const forced = recordOf(choice);
  for (const tool of given) {
    if (isCustom(tool)) continue;
    const type = stringOf(tool['type']) ?? '';
    const isForced =
      forced['type'] === 'tool'
        ? forced['name'] === tool['name']
        : forced['type'] === 'any' && own.length === 0;
    if (own.length > 0 && !isForced && optionalTools.test(type)) notes.lose(`tools[].${type}`);
    else notes.insist(`tools[].${type}`);
  }
  return own.map((tool) => readTool(tool, notes));
}

function isCustom({ type }: WireRecord): boolean {
  return type === undefined || type === null || type === 'custom';
}

/** Members that steer how this vendor handles a tool, not what it is. */
const hints = ['defer_loading', 'eager_input_streaming', 'allowed_callers', 'input_examples'] as const;

function readTool(wire: WireRecord, notes: TurnNotes): Tool {
  for (const hint of hints) if (wire[hint]) notes.lose(`tools[].${hint}`);
  const schema = wire['input_schema'];
  return {
    kind: 'function',
    name: stringOf(wire['name']) ?? '',
    namespace: null,
    description: stringOf(wire['description']) ?? '',
    parameters: isRecord(schema) ? schema : null,
    strict: booleanOf(wire['strict']),
    cacheTtl: readCacheTtl(wire),
  };
}

export function readToolChoice(wire: WireRecord, notes: TurnNotes): ToolChoice | null {
  switch (wire['type']) {
    case 'auto':
    case 'none':
      return { kind: wire['type'] };
    case 'any':
      return { kind: 'required' };
    case 'tool':
      return { kind: 'named', name: stringOf(wire['name']) ?? '' };
    case undefined:
      return null;
    default:
      notes.insist('tool_choice');
      return null;
  }
}
