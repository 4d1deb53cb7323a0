import type { TranslationTarget, WrittenTurn } from '../../codec.ts';
import type { Fault } from '../../error.ts';
import { jsonType } from '../../request/upstream-request.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { extensionLosses } from '../../translate/extension-losses.ts';
import { settingLosses } from '../../translate/setting-losses.ts';
import { ToolNaming } from '../../translate/tool-names.ts';
import { type TraitSupport, traitLosses } from '../../translate/trait-losses.ts';
import type { Turn } from '../../turn.ts';
import { ItemsWriter } from './write-items.ts';
import { WriteNotes } from './write-notes.ts';
import { settingSupport, writeSettings } from './write-settings.ts';
import { nameRule, upstreamNames, writeToolChoice, writeTools } from './write-tools.ts';

const encoder = new TextEncoder();

/** Prefixes are cached without marks; the newest models alone take any. */
const traitSupport: TraitSupport = {
  citations: 'carried',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

/** A request for an upstream of this protocol. Nothing of it is stored there, so that nothing has to be found again. */
export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const ofSettings = settingLosses(turn, settingSupport(turn, target));
  if (!ofSettings.ok) return ofSettings;
  const ofExtensions = extensionLosses(turn, 'responses');
  if (!ofExtensions.ok) return ofExtensions;
  const notes = new WriteNotes(turn.surface);
  const naming = new ToolNaming(turn, nameRule);
  const body = bodyOf(turn, target, naming, notes);
  if (notes.fault !== null) return fail(notes.fault);
  return succeed({
    request: {
      path: target.path,
      contentType: jsonType,
      headers: [],
      body: [encoder.encode(JSON.stringify(body))],
      edits: [],
    },
    losses: [
      ...ofSettings.value,
      ...ofExtensions.value,
      ...traitLosses(turn, 'responses', traitSupport),
      ...notes.losses,
    ],
    names: naming.names,
  });
}

function bodyOf(turn: Turn, target: TranslationTarget, naming: ToolNaming, notes: WriteNotes): object {
  const instructions = turn.system.map(({ text }) => text).join('\n\n');
  return {
    model: target.upstreamModel,
    ...(instructions === '' ? {} : { instructions }),
    input: writeInput(turn, target, naming, notes),
    ...toolMembers(turn, naming),
    ...writeSettings(turn, target, notes),
    store: false,
    // A model that does not think refuses to be asked for its thoughts.
    ...(target.reasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    stream: turn.stream,
  };
}

function writeInput(
  { messages }: Turn,
  { origin }: TranslationTarget,
  naming: ToolNaming,
  notes: WriteNotes,
): readonly object[] {
  const writer = new ItemsWriter({ notes, naming, origin }, messages);
  for (const message of messages) writer.write(message);
  return writer.items;
}

/** How tools are used is only said where there are any: else it is refused. */
function toolMembers(turn: Turn, naming: ToolNaming): object {
  const { tools, toolChoice, settings } = turn;
  if (tools.length === 0) return {};
  const nameOf = upstreamNames(naming);
  const choice = toolChoice === null ? {} : { tool_choice: writeToolChoice(toolChoice, tools, nameOf) };
  const { parallelToolCalls } = settings;
  const parallel = parallelToolCalls === null ? {} : { parallel_tool_calls: parallelToolCalls };
  return { tools: writeTools(turn, nameOf), ...choice, ...parallel };
}
