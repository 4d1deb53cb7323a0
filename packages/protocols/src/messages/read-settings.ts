import { plainWord, type TurnNotes } from '../translate/reading.ts';
import { efforts } from '../translate/reasoning-effort.ts';
import {
  noSettings,
  type OutputFormat,
  type ReasoningSetting,
  type Tool,
  type ToolChoice,
  type TurnSettingName,
  type TurnSettings,
} from '../turn.ts';
import {
  booleanOf,
  isRecord,
  listOf,
  numberOf,
  recordOf,
  stringOf,
  type WireRecord,
} from '../wire-values.ts';
import { readCacheTtl } from './wire.ts';

/** All that the request sets beside its conversation. */
export function readSettings(wire: WireRecord, notes: TurnNotes): TurnSettings {
  const limit = numberOf(wire['max_tokens']);
  // None at all asks for nothing but a filled cache, and an upstream of another protocol would answer, or refuse.
  if (limit === 0) notes.insist('max_tokens');
  return {
    ...noSettings,
    maxOutputTokens: limit,
    temperature: numberOf(wire['temperature']),
    topP: numberOf(wire['top_p']),
    topK: numberOf(wire['top_k']),
    stop: readStop(wire['stop_sequences']),
    parallelToolCalls: readParallel(recordOf(wire['tool_choice'])),
    reasoning: readReasoning(wire, notes),
    outputFormat: readFormat(wire),
    user: stringOf(recordOf(wire['metadata'])['user_id']),
    serviceTier: readTier(wire['service_tier']),
  };
}

/** How this protocol spells the settings whose names are not its own. */
export function spellingOf(wire: WireRecord): Readonly<Partial<Record<TurnSettingName, string>>> {
  return {
    maxOutputTokens: 'max_tokens',
    topP: 'top_p',
    topK: 'top_k',
    stop: 'stop_sequences',
    parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
    reasoning: isRecord(wire['thinking']) ? 'thinking' : 'output_config.effort',
    outputFormat: formatName(wire),
    user: 'metadata.user_id',
    serviceTier: 'service_tier',
  };
}

function readStop(wire: unknown): readonly string[] | null {
  return Array.isArray(wire) ? listOf(wire).flatMap((text) => stringOf(text) ?? []) : null;
}

function readParallel(choice: WireRecord): boolean | null {
  const isDisabled = booleanOf(choice['disable_parallel_tool_use']);
  return isDisabled === null ? null : !isDisabled;
}

/** How much is to be thought, by budget, by word or by the model itself; null when nothing is said of it. */
function readReasoning(wire: WireRecord, notes: TurnNotes): ReasoningSetting | null {
  const said = recordOf(wire['output_config'])['effort'];
  const effort = efforts.find((word) => word === said && word !== 'none') ?? null;
  const thinking = recordOf(wire['thinking']);
  const shown = readShown(thinking['display']);
  switch (thinking['type']) {
    case 'disabled':
      return { effort: 'none', budgetTokens: null, shown: null };
    case 'enabled':
      return { effort, budgetTokens: numberOf(thinking['budget_tokens']), shown: shown ?? true, isOn: true };
    case 'between_tools':
      // Others think whenever they like.
      notes.lose('thinking.type');
      return { effort, budgetTokens: null, shown };
    case 'adaptive':
      return { effort, budgetTokens: null, shown, isOn: true };
    default:
      return effort === null ? null : { effort, budgetTokens: null, shown: null };
  }
}

function readShown(display: unknown): boolean | null {
  if (display === 'omitted') return false;
  return display === 'summarized' ? true : null;
}

/** The older name stands at the top. */
function formatName(wire: WireRecord): string {
  return isRecord(recordOf(wire['output_config'])['format']) ? 'output_config.format' : 'output_format';
}

function readFormat(wire: WireRecord): OutputFormat | null {
  const format = recordOf(wire['output_config'])['format'] ?? wire['output_format'];
  if (!isRecord(format) || format['type'] !== 'json_schema') return null;
  // This protocol has no other way than to the letter.
  const shape = { name: null, description: null, strict: true };
  return { kind: 'json-schema', ...shape, schema: recordOf(format['schema']) };
}

function readTier(wire: unknown): TurnSettings['serviceTier'] {
  if (wire === 'auto') return 'auto';
  return wire === 'standard_only' ? 'default' : null;
}

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
    const field = `tools[].${plainWord(type)}`;
    if (own.length > 0 && !isForced && optionalTools.test(type)) notes.lose(field);
    else notes.insist(field);
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
