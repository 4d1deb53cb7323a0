import { fromNativeSchema } from '../../translate/json-schema/native-schema.ts';
import { plainWord, type TurnNotes } from '../../translate/turn-notes.ts';
import type { FunctionTool, ToolChoice, Turn } from '../../turn.ts';
import { isRecord, listOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { inCamelCase } from './camel-case.ts';
import { elementsOf } from './read-contents.ts';

/** `members`: of the request, in camelCase. */
export function readTools(members: WireRecord, notes: TurnNotes): Pick<Turn, 'tools' | 'toolChoice'> {
  const config = inCamelCase(members['toolConfig']);
  const calling = inCamelCase(config['functionCallingConfig']);
  const isStrict = calling['mode'] === 'VALIDATED';
  const groups = elementsOf(members['tools']).map(inCamelCase);
  const tools = groups.flatMap(({ functionDeclarations }) =>
    elementsOf(functionDeclarations).map((tool) => readFunction(inCamelCase(tool), isStrict, notes)),
  );
  noteHosted(groups, tools.length > 0, notes);
  for (const [name, value] of Object.entries(config))
    if ((isRecord(value) || value === true) && name !== 'functionCallingConfig')
      notes.lose(`toolConfig.${plainWord(name)}`);
  if (calling['streamFunctionCallArguments'] === true)
    notes.lose('toolConfig.functionCallingConfig.streamFunctionCallArguments');
  return { tools, toolChoice: readChoice(calling, notes) };
}

function readFunction(tool: WireRecord, isStrict: boolean, notes: TurnNotes): FunctionTool {
  for (const name of ['behavior', 'response', 'responseJsonSchema'])
    if (tool[name] !== undefined && tool[name] !== null) notes.lose(`tools[].functionDeclarations[].${name}`);
  return {
    kind: 'function',
    name: stringOf(tool['name']) ?? '',
    namespace: null,
    description: stringOf(tool['description']) ?? '',
    parameters: readParameters(tool),
    strict: isStrict ? true : null,
    cacheTtl: null,
  };
}

/** JSON Schema itself, or this protocol's own dialect of it. */
function readParameters({ parameters, parametersJsonSchema }: WireRecord): WireRecord | null {
  if (isRecord(parametersJsonSchema)) return parametersJsonSchema;
  return isRecord(parameters) ? fromNativeSchema(parameters) : null;
}

/** Tools the vendor runs itself: with functions beside them the model can do without. */
function noteHosted(groups: readonly WireRecord[], hasFunctions: boolean, notes: TurnNotes): void {
  for (const name of groups.flatMap((group) => Object.keys(group))) {
    if (name === 'functionDeclarations') continue;
    if (hasFunctions) notes.lose(`tools[].${plainWord(name)}`);
    else notes.insist(`tools[].${plainWord(name)}`);
  }
}

function readChoice(calling: WireRecord, notes: TurnNotes): ToolChoice | null {
  const names = listOf(calling['allowedFunctionNames']).filter((name) => typeof name === 'string');
  const mode = calling['mode'] ?? 'MODE_UNSPECIFIED';
  switch (typeof mode === 'string' ? mode.toUpperCase() : mode) {
    case 'MODE_UNSPECIFIED':
      return null;
    case 'AUTO':
    case 'VALIDATED':
      return names.length > 0 ? { kind: 'allowed', mode: 'auto', names } : { kind: 'auto' };
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      return requiredChoice(names);
    default: {
      const place = 'toolConfig.functionCallingConfig.mode';
      notes.blame(place, `'${place}' must be AUTO, ANY, NONE or VALIDATED.`);
      return null;
    }
  }
}

function requiredChoice(names: readonly string[]): ToolChoice {
  const [only, ...others] = names;
  if (only === undefined) return { kind: 'required' };
  return others.length === 0 ? { kind: 'named', name: only } : { kind: 'allowed', mode: 'required', names };
}
