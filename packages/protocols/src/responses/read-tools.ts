import { plainWord, type TurnNotes } from '../translate/reading.ts';
import type { Tool, ToolChoice } from '../turn.ts';
import { booleanOf, isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import type { Place } from './read-parts.ts';

/** The tools a request offers: those the caller runs, and the types of those the vendor would. */
export interface OfferedTools {
  readonly tools: readonly Tool[];
  readonly hosted: readonly string[];
}

export function readTools(wire: unknown, place: Place, notes: TurnNotes): OfferedTools {
  const offered = listOf(wire).map((tool, index) => readTool(recordOf(tool), `${place}[${index}]`, notes));
  if (!isListOrNothing(wire)) notes.blame(place, 'must be a list of tools');
  return { tools: offered.flatMap(({ tools }) => tools), hosted: offered.flatMap(({ hosted }) => hosted) };
}

function isListOrNothing(wire: unknown): boolean {
  return Array.isArray(wire) || wire === null || wire === undefined;
}

function readTool(tool: WireRecord, place: Place, notes: TurnNotes): OfferedTools {
  switch (tool['type']) {
    case 'function':
    case 'custom':
      return { tools: readOwnTool(tool, null, place, notes), hosted: [] };
    case 'namespace':
      return { tools: readNamespace(tool, place, notes), hosted: [] };
    default:
      return { tools: [], hosted: readHosted(tool, place, notes) };
  }
}

function readHosted(tool: WireRecord, place: Place, notes: TurnNotes): readonly string[] {
  const type = stringOf(tool['type']);
  if (type === null) notes.blame(`${place}.type`, 'is missing: say what kind of tool it is');
  return type === null ? [] : [plainWord(type)];
}

/** A group of tools. What is said of all of them is said with the first: elsewhere there are no groups. */
function readNamespace(group: WireRecord, place: Place, notes: TurnNotes): readonly Tool[] {
  const namespace = nameOf(group, place, notes);
  const tools = listOf(group['tools']).flatMap((value, index) =>
    readMember(recordOf(value), namespace, `${place}.tools[${index}]`, notes),
  );
  const about = stringOf(group['description']) ?? '';
  const [first, ...others] = tools;
  if (about === '' || first === undefined) return tools;
  return [{ ...first, description: joined([about, first.description]) }, ...others];
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

function readMember(
  tool: WireRecord,
  namespace: string | null,
  place: Place,
  notes: TurnNotes,
): readonly Tool[] {
  if (tool['type'] === 'function' || tool['type'] === 'custom')
    return readOwnTool(tool, namespace, place, notes);
  return notes.blame(`${place}.type`, "must be 'function' or 'custom'");
}

/** Members that help this vendor alone to use a tool. */
const toolHints = ['defer_loading', 'output_schema', 'allowed_callers', 'async'];

function readOwnTool(
  tool: WireRecord,
  namespace: string | null,
  place: Place,
  notes: TurnNotes,
): readonly Tool[] {
  const name = nameOf(tool, place, notes);
  if (name === null) return [];
  for (const hint of toolHints) if (isTold(tool[hint])) notes.lose(`tools[].${hint}`);
  const common = { name, namespace, description: stringOf(tool['description']) ?? '' };
  if (tool['type'] === 'custom') return [{ kind: 'custom', ...common, format: readFormat(tool['format']) }];
  const { parameters } = tool;
  return [
    {
      kind: 'function',
      ...common,
      parameters: isRecord(parameters) ? parameters : null,
      strict: booleanOf(tool['strict']),
      cacheTtl: null,
    },
  ];
}

function isTold(value: unknown): boolean {
  return value !== null && value !== undefined && value !== false;
}

function readFormat(format: unknown): WireRecord | null {
  return isRecord(format) && format['type'] !== 'text' ? format : null;
}

function nameOf(tool: WireRecord, place: Place, notes: TurnNotes): string | null {
  const name = stringOf(tool['name']);
  if (name === null || name === '') notes.blame(`${place}.name`, 'is missing');
  return name === '' ? null : name;
}

/** Which tools are to be used. What the vendor's own tools are forced to do nobody else can. */
export function readToolChoice(wire: unknown, notes: TurnNotes): ToolChoice | null {
  switch (wire) {
    case null:
    case undefined:
      return null;
    case 'auto':
    case 'none':
    case 'required':
      return { kind: wire };
    default:
      return readChosen(recordOf(wire), notes);
  }
}

function readChosen(choice: WireRecord, notes: TurnNotes): ToolChoice | null {
  const name = stringOf(choice['name']);
  switch (choice['type']) {
    case 'function':
    case 'custom':
      if (name !== null) return { kind: 'named', name };
      notes.blame('tool_choice.name', 'is missing: name the tool');
      return null;
    case 'allowed_tools':
      return readAllowed(choice, notes);
    default:
      if (stringOf(choice['type']) === null)
        notes.blame('tool_choice', "must be 'auto', 'none', 'required' or name a tool");
      else notes.insist('tool_choice');
      return null;
  }
}

function readAllowed(choice: WireRecord, notes: TurnNotes): ToolChoice | null {
  const names = listOf(choice['tools']).flatMap((tool) => allowedName(recordOf(tool)) ?? []);
  if (names.length === 0) {
    notes.insist('tool_choice');
    return null;
  }
  return { kind: 'allowed', mode: choice['mode'] === 'required' ? 'required' : 'auto', names };
}

function allowedName(tool: WireRecord): string | null {
  return tool['type'] === 'function' || tool['type'] === 'custom' ? stringOf(tool['name']) : null;
}

/**
 * Agents offer the vendor's tools with every request: beside others a model can do without them. Where one must be used,
 * or there is nothing else to use, it cannot.
 */
export function noteHosted(
  { tools, hosted }: OfferedTools,
  choice: ToolChoice | null,
  notes: TurnNotes,
): void {
  const isNeeded = choice?.kind === 'required' || (tools.length === 0 && choice?.kind !== 'none');
  for (const type of hosted) {
    if (isNeeded) notes.insist(`tools[].${type}`);
    else notes.lose(`tools[].${type}`);
  }
}
