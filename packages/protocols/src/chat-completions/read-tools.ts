import { plainWord, type TurnNotes } from '../translate/reading.ts';
import type { Tool, ToolChoice } from '../turn.ts';
import { booleanOf, isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { cacheTtlOf } from './wire.ts';

export interface ReadTools {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
}

/** The tools of either spelling. Those the server itself would run are left out where there are others to do without them. */
export function readTools(body: WireRecord, notes: TurnNotes): ReadTools {
  const hosted = new Set<string>();
  const tools = [
    ...listOf(body['tools']).flatMap((tool, index) =>
      readTool(recordOf(tool), `tools[${index}]`, hosted, notes),
    ),
    ...listOf(body['functions']).flatMap((tool, index) =>
      readFunction(recordOf(tool), `functions[${index}]`, notes),
    ),
  ];
  if ((body['web_search_options'] ?? null) !== null) hosted.add('web_search_options');
  const toolChoice = readChoice(body, notes);
  const isOptional = tools.length > 0 && toolChoice?.kind !== 'required';
  for (const field of hosted) {
    if (isOptional) notes.lose(field);
    else notes.insist(field);
  }
  return { tools, toolChoice };
}

function readTool(tool: WireRecord, place: string, hosted: Set<string>, notes: TurnNotes): readonly Tool[] {
  const type = stringOf(tool['type']);
  switch (type) {
    case 'function':
      return readFunction(
        { cache_control: tool['cache_control'], ...recordOf(tool[type]) },
        `${place}.${type}`,
        notes,
      );
    case 'custom':
      return readCustom(recordOf(tool[type]), `${place}.${type}`, notes);
    case null:
      return notes.blame(`${place}.type`, 'must be one of function, custom');
    default:
      hosted.add(`tools[].${plainWord(type)}`);
      return [];
  }
}

function readFunction(wire: WireRecord, place: string, notes: TurnNotes): readonly Tool[] {
  const name = readName(wire, place, notes);
  const parameters = wire['parameters'] ?? null;
  if (parameters !== null && !isRecord(parameters))
    notes.blame(`${place}.parameters`, 'must be a JSON Schema');
  return [
    {
      kind: 'function',
      name,
      namespace: null,
      description: stringOf(wire['description']) ?? '',
      parameters: isRecord(parameters) ? parameters : null,
      strict: booleanOf(wire['strict']),
      cacheTtl: cacheTtlOf(wire),
    },
  ];
}

function readCustom(wire: WireRecord, place: string, notes: TurnNotes): readonly Tool[] {
  const name = readName(wire, place, notes);
  const format = isRecord(wire['format']) && wire['format']['type'] !== 'text' ? wire['format'] : null;
  const description = stringOf(wire['description']) ?? '';
  return [{ kind: 'custom', name, namespace: null, description, format }];
}

function readName(wire: WireRecord, place: string, notes: TurnNotes): string {
  const name = stringOf(wire['name']) ?? '';
  if (name === '') notes.blame(`${place}.name`, 'must be a text');
  return name;
}

function readChoice(body: WireRecord, notes: TurnNotes): ToolChoice | null {
  const older = (body['tool_choice'] ?? null) === null;
  const member = older ? 'function_call' : 'tool_choice';
  const choice = body[member] ?? null;
  if (choice === null) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  const wire = recordOf(choice);
  if (wire['type'] === 'allowed_tools') return readAllowed(recordOf(wire['allowed_tools']), notes);
  const name = chosenName(older ? { type: 'function', function: wire } : wire);
  if (name !== null) return { kind: 'named', name };
  notes.blame(member, 'must be none, auto, required or the name of one of the tools in an object');
  return null;
}

/** Reads `{type: 'function', function: {name}}` and `{type: 'custom', custom: {name}}`. */
function chosenName(choice: WireRecord): string | null {
  const type = choice['type'] === 'custom' ? 'custom' : 'function';
  return stringOf(recordOf(choice[type])['name']);
}

function readAllowed(wire: WireRecord, notes: TurnNotes): ToolChoice {
  const names = listOf(wire['tools']).map((tool) => chosenName(recordOf(tool)));
  const known = names.filter((name) => name !== null);
  if (known.length < names.length || known.length === 0)
    notes.blame('tool_choice.allowed_tools.tools', 'must name tools');
  const mode = wire['mode'] === 'required' ? 'required' : 'auto';
  return { kind: 'allowed', mode, names: known };
}
