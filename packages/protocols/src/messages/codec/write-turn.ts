import type { TranslationTarget, WrittenTurn } from '../../codec.ts';
import type { Fault } from '../../error.ts';
import { jsonType } from '../../request/upstream-request.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { extensionLosses } from '../../translate/extension-losses.ts';
import { settingLosses } from '../../translate/setting-losses.ts';
import { showMedia } from '../../translate/show-media.ts';
import { ToolNaming } from '../../translate/tool-names.ts';
import { type TraitSupport, traitLosses } from '../../translate/trait-losses.ts';
import { type OrderedMessage, orderTurns } from '../../translate/turn-order.ts';
import { WriteNotes } from '../../translate/write-notes.ts';
import type { TextBlock, Turn } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import { upstreamHeaders } from '../headers.ts';
import { CacheBreakpoints } from './cache-control.ts';
import { writeThinking } from './thinking.ts';
import { withOwnThoughts, writeMessage, writeText } from './write-blocks.ts';
import type { WriteContext } from './write-context.ts';
import { jsonInstruction, settingSupport, writeMaxTokens, writeSettings } from './write-settings.ts';
import { toolNameRule, writeTools } from './write-tools.ts';

const encoder = new TextEncoder();

const traitSupport: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'carried',
  'image-detail': 'dropped',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

/** Writes the turn for an upstream of this protocol. */
export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const ofSettings = settingLosses(turn, settingSupport);
  if (!ofSettings.ok) return ofSettings;
  const ofExtensions = extensionLosses(turn, 'messages');
  if (!ofExtensions.ok) return ofExtensions;
  const notes = new WriteNotes();
  notes.add([...ofExtensions.value, ...ofSettings.value, ...traitLosses(turn, 'messages', traitSupport)]);
  const naming = new ToolNaming(turn, toolNameRule);
  const breakpoints = new CacheBreakpoints(turn);
  const body = writeBody(turn, target, { surface: turn.surface, naming, notes, breakpoints });
  if (notes.fault !== null) return fail(notes.fault);
  const request = {
    path: target.path,
    contentType: jsonType,
    headers: upstreamHeaders({ version: null, betas: null }, target.dialect),
    body: [encoder.encode(JSON.stringify(body))],
    edits: [],
  };
  return succeed({ request, losses: notes.losses, names: naming.names });
}

function writeBody(turn: Turn, target: TranslationTarget, context: WriteContext): WireRecord {
  const { notes } = context;
  if (turn.messages.some(({ name }) => name !== null)) notes.drop('messages[].name');
  const ordered = orderTurns(showMedia(withOwnThoughts(turn, target.origin, notes)));
  const maxTokens = writeMaxTokens(turn, target, notes);
  const isLoopUnsigned = isUnsignedLoop(ordered);
  const thinking = writeThinking(turn, { target, maxTokens, isLoopUnsigned }, notes);
  // In the order of the prompt, in which cache breakpoints are counted: tools, system, messages.
  const tools = writeTools(turn, context);
  const system = writeSystem(turn, context);
  return {
    model: target.upstreamModel,
    max_tokens: maxTokens,
    ...system,
    messages: trimmedEnd(ordered).map((message) => writeMessage(message, context)),
    ...tools,
    ...writeSettings(turn, target, thinking, notes),
    ...(turn.stream ? { stream: true } : {}),
  };
}

/** One plain text is written as such. */
function writeSystem(turn: Turn, context: WriteContext): WireRecord {
  const blocks = [...turn.system, ...extraInstruction(turn, context.notes)].flatMap((block) =>
    writeText(block, context),
  );
  const [first, ...rest] = blocks;
  if (first === undefined) return {};
  return { system: rest.length === 0 && !('cache_control' in first) ? first['text'] : blocks };
}

function extraInstruction(turn: Turn, notes: WriteNotes): readonly TextBlock[] {
  const text = jsonInstruction(turn, notes);
  return text === null ? [] : [{ kind: 'text', text, citations: [], cacheTtl: null }];
}

/** Whether results of tools come last, and the turn that called them has no thoughts to begin with. */
function isUnsignedLoop(messages: readonly OrderedMessage[]): boolean {
  const [call, result] = messages.slice(-2);
  return result?.content[0]?.kind === 'tool-result' && call?.content[0]?.kind !== 'reasoning';
}

/** The vendor refuses the beginning of an answer that ends in white space. */
function trimmedEnd(messages: readonly OrderedMessage[]): readonly OrderedMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.kind !== 'text') return messages;
  const content = [...last.content.slice(0, -1), { ...block, text: block.text.trimEnd() }];
  return [...messages.slice(0, -1), { ...last, content }];
}
