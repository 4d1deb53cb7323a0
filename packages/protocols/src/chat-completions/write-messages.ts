import type { TranslationTarget, WrittenTurn } from '../codec.ts';
import type { Fault } from '../error.ts';
import { jsonRequest } from '../request/edits.ts';
import { type Result, unreachable } from '../result.ts';
import { dataUrl, showMedia } from '../translate/media.ts';
import { prefillOf } from '../translate/prefill.ts';
import { effortOf } from '../translate/reasoning-effort.ts';
import { wrapInput } from '../translate/tools.ts';
import { answerCalls } from '../translate/turn-order.ts';
import {
  type Block,
  type MediaBlock,
  type Message,
  type ReasoningBlock,
  type RefusalBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { returnCallSeal, returnThoughts, type ThoughtsWanted } from './thoughts.ts';
import { ChatWriting, isThinkingByRules, writeSettings } from './write-settings.ts';
import { writeTools } from './write-tools.ts';

export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const writing = new ChatWriting(turn, target);
  const settings = writeSettings(writing);
  const body = {
    model: target.upstreamModel,
    ...writeStream(turn, target),
    messages: writeMessages(writing),
    ...writeTools(writing),
    ...settings,
  };
  return writing.finish(jsonRequest(target.path, body));
}

/** Usage is always asked for: the meter needs it, and what the caller gets is written anew. */
function writeStream({ stream }: Turn, { dialect }: TranslationTarget): WireRecord {
  if (!stream) return {};
  return { stream, stream_options: dialect.usageInStream ? { include_usage: true } : undefined };
}

/** The conversation. Every call is followed by its results, and by nothing else before them. */
function writeMessages(writing: ChatWriting): readonly WireRecord[] {
  const written = [
    ...writeSystem(writing),
    ...rounds(showMedia(writing.turn.messages)).flatMap((round) => [
      ...writeAssistant(writing, round),
      ...writeReplies(writing, round),
    ]),
  ];
  const last = written.at(-1);
  const mark = prefillOf(writing.target, 'chat-completions')?.mark ?? null;
  if (mark === null || last?.['role'] !== 'assistant' || last['tool_calls'] !== undefined) return written;
  return [...written.slice(0, -1), { ...last, [mark]: true }];
}

/** The model's words, and all that was said to it before it spoke again. */
interface Round {
  readonly name: string | null;
  readonly said: Block[];
  readonly calls: ToolCallBlock[];
  readonly replies: Message[];
}

/** The first one is what was said before the model spoke at all. */
function rounds(messages: readonly Message[]): readonly Round[] {
  let round = newRound(null);
  const list = [round];
  for (const { role, content, name } of messages) {
    if (role !== 'assistant') {
      round.replies.push({ role, content, name });
      continue;
    }
    // Behind calls without an answer, what the model says next belongs to the same message.
    const isUnanswered = round.calls.length > 0 && round.replies.length === 0;
    if (!isUnanswered) {
      round = newRound(name);
      list.push(round);
    }
    for (const block of content) say(round, block);
  }
  return list;
}

function newRound(name: string | null): Round {
  return { name, said: [], calls: [], replies: [] };
}

function say(round: Round, block: Block): void {
  if (block.kind === 'tool-call') round.calls.push(block);
  else round.said.push(block);
}

/** One message for all of it: many servers take one, and only at the beginning. */
function writeSystem(writing: ChatWriting): readonly WireRecord[] {
  const { turn, isOwn } = writing;
  const texts = turn.system.map(({ text }) => text);
  if (!isOwn && turn.settings.outputFormat?.kind === 'json' && !mentionsJson(writing)) texts.push(jsonHint);
  if (texts.length === 0) return [];
  const content = isOwn ? writeContent(writing, turn.system) : texts.join('\n\n');
  return [{ role: instructionRole(writing), content }];
}

/** Servers refuse to be held to JSON unless they are also told. */
const jsonHint = 'Answer in JSON.';

function mentionsJson({ turn }: ChatWriting): boolean {
  const blocks = [...turn.system, ...turn.messages.flatMap(({ content }) => content)];
  return blocks.some((block) => block.kind === 'text' && /json/i.test(block.text));
}

function instructionRole(writing: ChatWriting): string {
  return isThinkingByRules(writing) ? 'developer' : 'system';
}

function writeAssistant(writing: ChatWriting, round: Round): readonly WireRecord[] {
  const { said: content, calls } = round;
  const said = writeSaid(writing, content);
  if (calls.length === 0 && said['content'] === null && said['refusal'] === undefined) return [];
  const thoughts = content.filter((block): block is ReasoningBlock => block.kind === 'reasoning');
  noteThoughts(writing, thoughts);
  return [
    {
      role: 'assistant',
      ...writeName(writing, round),
      ...said,
      ...returnThoughts(thoughts, writing.target.origin, thoughtsWanted(writing, calls)),
      tool_calls: calls.length === 0 ? undefined : calls.map((call) => writeCall(writing, call)),
    },
  ];
}

function writeSaid(writing: ChatWriting, content: readonly Block[]): WireRecord {
  const texts = content.filter(
    (block): block is TextBlock | RefusalBlock =>
      block.kind === 'text' || (block.kind === 'refusal' && !writing.knowsAll),
  );
  const refusals = content.filter(
    (block): block is RefusalBlock => block.kind === 'refusal' && block.text !== '' && writing.knowsAll,
  );
  const text = joinTexts(texts);
  return {
    content: text === '' ? null : text,
    refusal: refusals.length === 0 ? undefined : joinTexts(refusals),
  };
}

function joinTexts(blocks: readonly Block[]): string {
  return blocks.map((block) => ('text' in block ? block.text : '')).join('');
}

/** Elsewhere they are of no use, and older servers refuse them there. */
function thoughtsWanted(writing: ChatWriting, calls: readonly ToolCallBlock[]): ThoughtsWanted {
  const { dialect, reasoning } = writing.target;
  const setting = writing.turn.settings.reasoning;
  const isThinking = reasoning && (setting === null || effortOf(setting) !== 'none');
  if (dialect.reasoningExpected && isThinking && !writing.isOwn) return 'always';
  return calls.length > 0 ? 'if-any' : 'never';
}

/** State of another vendor's is of no use here; the caller is told where it was given in its own protocol. */
function noteThoughts(writing: ChatWriting, thoughts: readonly ReasoningBlock[]): void {
  if (thoughts.some(({ sealed }) => sealed?.origin === 'native'))
    writing.drop(writing.surface.sealed, 'of another model');
}

function writeCall(writing: ChatWriting, call: ToolCallBlock): WireRecord {
  const name = writing.naming.sent(call);
  const id = writing.callId(call.id);
  const seal = returnCallSeal(call, writing.target.origin);
  if (call.form === 'custom' && writing.knowsAll)
    return { id, type: 'custom', custom: { name, input: call.input }, ...seal };
  const text = call.form === 'custom' ? wrapInput(call.input) : call.input;
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...seal };
}

function writeReplies(writing: ChatWriting, { calls, replies }: Round): readonly WireRecord[] {
  const results = replies.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-result'));
  const answered = answerCalls(calls, results);
  const messages = answered.flatMap((block) =>
    block.kind === 'tool-result' ? [writeResult(writing, block)] : [],
  );
  const shown = answered.flatMap((block) => shownToModel(writing, block));
  const rest = withFirst(shown, replies.flatMap(withoutResults));
  return [...messages, ...rest.map((message) => writeReply(writing, message))];
}

/** The rest of a message without its results; none where it said nothing else, which servers refuse. */
function withoutResults(message: Message): readonly Message[] {
  const content = message.content.filter(isSaid);
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isSaid(block: Block): boolean {
  return block.kind === 'text' ? block.text !== '' : block.kind === 'media';
}

/** Blocks that a message with the result cannot hold: its media, and results that answer no call. */
function shownToModel(writing: ChatWriting, block: Block): readonly Block[] {
  if (block.kind !== 'tool-result') return [block];
  const media = block.content.filter(isSeen);
  return media.length === 0
    ? []
    : [textBlock(`[From the result of the tool call ${writing.callId(block.callId)}]`), ...media];
}

function isSeen(block: TextBlock | MediaBlock): block is MediaBlock {
  return block.kind === 'media' && block.source.kind !== 'text';
}

/** Put before what the user says next. */
function withFirst(blocks: readonly Block[], messages: readonly Message[]): readonly Message[] {
  if (blocks.length === 0) return messages;
  const [first, ...others] = messages;
  return first?.role === 'user'
    ? [{ ...first, content: [...blocks, ...first.content] }, ...others]
    : [{ role: 'user', content: blocks, name: null }, ...messages];
}

function writeResult(writing: ChatWriting, { callId, content, isError }: ToolResultBlock): WireRecord {
  const texts = content.filter((block) => !isSeen(block)).map(resultText);
  const text = texts.join('\n');
  return {
    role: 'tool',
    tool_call_id: writing.callId(callId),
    content: isError && !writing.isOwn ? `Error: ${text}` : text,
  };
}

function resultText(block: TextBlock | MediaBlock): string {
  if (block.kind === 'text') return block.text;
  return block.source.kind === 'text' ? block.source.text : '';
}

function writeReply(writing: ChatWriting, message: Message): WireRecord {
  const content = message.content.filter((block) => block.kind === 'text' || block.kind === 'media');
  const role = message.role === 'system' ? instructionRole(writing) : message.role;
  return { role, ...writeName(writing, message), content: writeContent(writing, content) };
}

/** Not every server knows names. */
function writeName(writing: ChatWriting, { name }: Pick<Message, 'name'>): WireRecord {
  if (name === null) return {};
  if (writing.knowsAll) return { name };
  writing.drop('messages[].name');
  return {};
}

/** A content: one text where it is no more than that, since not every server takes lists of parts. */
function writeContent(
  writing: ChatWriting,
  blocks: readonly (TextBlock | MediaBlock)[],
): string | readonly WireRecord[] {
  const [first] = blocks;
  if (first === undefined) return '';
  if (blocks.length === 1 && first.kind === 'text' && !keepsCache(writing, first)) return first.text;
  return blocks.flatMap((block) =>
    block.kind === 'text' ? [writeText(writing, block)] : writeMedia(writing, block),
  );
}

function keepsCache({ isOwn }: ChatWriting, { cacheTtl }: TextBlock): boolean {
  return isOwn && cacheTtl !== null;
}

function writeText(writing: ChatWriting, block: TextBlock): WireRecord {
  return { type: 'text', text: block.text, ...writeCache(writing, block) };
}

/** For the caller's own protocol only: elsewhere caches need no marks, and servers refuse what they do not know. */
function writeCache({ isOwn }: ChatWriting, { cacheTtl }: TextBlock | MediaBlock): WireRecord {
  return isOwn && cacheTtl !== null ? { cache_control: { type: 'ephemeral', ttl: cacheTtl } } : {};
}

function writeMedia(writing: ChatWriting, block: MediaBlock): readonly WireRecord[] {
  const part = mediaPart(block);
  if (part !== null) return [{ ...part, ...writeCache(writing, block) }];
  const remedy = 'send the content itself, in a format that this model takes';
  writing.refuse(writing.surface.media[block.media], remedy);
  return [];
}

/** Null where the protocol cannot hold it. */
function mediaPart(block: MediaBlock): WireRecord | null {
  if (block.source.kind === 'text') return { type: 'text', text: documentText(block, block.source.text) };
  switch (block.media) {
    case 'image':
      return imagePart(block);
    case 'audio':
      return audioPart(block);
    case 'file':
      return filePart(block);
    default:
      return unreachable(block.media);
  }
}

function documentText({ filename }: MediaBlock, text: string): string {
  return filename === null ? text : `${filename}\n\n${text}`;
}

function imagePart({ source, mediaType, detail }: MediaBlock): WireRecord | null {
  const url = source.kind === 'base64' ? dataUrl(mediaType ?? 'image/png', source.data) : urlOf(source);
  return url === null ? null : { type: 'image_url', image_url: { url, detail: detail ?? undefined } };
}

function urlOf(source: MediaBlock['source']): string | null {
  return source.kind === 'url' ? source.url : null;
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);

function audioPart({ source, mediaType }: MediaBlock): WireRecord | null {
  const format = audioFormats.get(mediaType?.toLowerCase() ?? '');
  if (source.kind !== 'base64' || format === undefined) return null;
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

function filePart({ source, mediaType, filename }: MediaBlock): WireRecord | null {
  // Servers refuse a file without a name.
  const name = filename ?? 'file';
  switch (source.kind) {
    case 'base64':
      return { type: 'file', file: { filename: name, file_data: dataUrl(mediaType, source.data) } };
    case 'url':
      return { type: 'file', file: { filename: name, file_data: source.url } };
    case 'id':
    case 'text':
      return null;
    default:
      return unreachable(source);
  }
}
