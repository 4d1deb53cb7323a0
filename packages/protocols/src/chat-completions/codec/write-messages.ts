import { dropped } from '../../loss.ts';
import { sealedField } from '../../translate/caller-fields.ts';
import { wrapInput } from '../../translate/custom-tool.ts';
import { effortOf } from '../../translate/reasoning-effort.ts';
import { showMedia } from '../../translate/show-media.ts';
import { answerCalls } from '../../translate/turn-order.ts';
import type {
  Block,
  MediaBlock,
  Message,
  ReasoningBlock,
  RefusalBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import { textBlock } from './read-parts.ts';
import type { TurnWriting } from './turn-writing.ts';
import { returnCallSeal, returnThoughts, type ThoughtsWanted } from './upstream-thoughts.ts';
import { writeContent } from './write-parts.ts';
import { isThinkingByRules } from './write-settings.ts';

/** The conversation. Every call is followed by its results, and by nothing else before them. */
export function writeMessages(writing: TurnWriting): readonly WireRecord[] {
  return [
    ...writeSystem(writing),
    ...rounds(showMedia(writing.turn.messages)).flatMap((round) => [
      ...writeAssistant(writing, round),
      ...writeReplies(writing, round),
    ]),
  ];
}

/** What the model said, and all that was said to it before it spoke again. */
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
function writeSystem(writing: TurnWriting): readonly WireRecord[] {
  const { turn, isOwn } = writing;
  const texts = turn.system.map(({ text }) => text);
  if (!isOwn && turn.settings.outputFormat?.kind === 'json' && !mentionsJson(writing)) texts.push(jsonHint);
  if (texts.length === 0) return [];
  const content = isOwn ? writeContent(writing, turn.system) : texts.join('\n\n');
  return [{ role: instructionRole(writing), content }];
}

/** Servers refuse to be held to JSON unless they are also told. */
const jsonHint = 'Answer in JSON.';

function mentionsJson({ turn }: TurnWriting): boolean {
  const blocks = [...turn.system, ...turn.messages.flatMap(({ content }) => content)];
  return blocks.some((block) => block.kind === 'text' && /json/i.test(block.text));
}

function instructionRole(writing: TurnWriting): string {
  return isThinkingByRules(writing) ? 'developer' : 'system';
}

function writeAssistant(writing: TurnWriting, round: Round): readonly WireRecord[] {
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

function writeSaid(writing: TurnWriting, content: readonly Block[]): WireRecord {
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
function thoughtsWanted(writing: TurnWriting, calls: readonly ToolCallBlock[]): ThoughtsWanted {
  const { dialect, reasoning } = writing.target;
  const setting = writing.turn.settings.reasoning;
  const isThinking = reasoning && (setting === null || effortOf(setting) !== 'none');
  if (dialect.reasoningExpected && isThinking && !writing.isOwn) return 'always';
  return calls.length > 0 ? 'if-any' : 'never';
}

/** State of another vendor's is of no use here; the caller is told where it was given in its own protocol. */
function noteThoughts(writing: TurnWriting, thoughts: readonly ReasoningBlock[]): void {
  if (thoughts.some(({ sealed }) => sealed?.origin === 'native'))
    writing.lose(dropped(sealedField(writing.turn.surface), 'of another model'));
}

function writeCall(writing: TurnWriting, call: ToolCallBlock): WireRecord {
  const name = writing.naming.sent(call);
  const id = writing.callId(call.id);
  const seal = returnCallSeal(call, writing.target.origin);
  if (call.form === 'custom' && writing.knowsAll)
    return { id, type: 'custom', custom: { name, input: call.input }, ...seal };
  const text = call.form === 'custom' ? wrapInput(call.input) : call.input;
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...seal };
}

function writeReplies(writing: TurnWriting, { calls, replies }: Round): readonly WireRecord[] {
  const results = replies.flatMap(({ content }) => content.filter((block) => block.kind === 'tool-result'));
  const answered = answerCalls(calls, results);
  const messages = answered.flatMap((block) =>
    block.kind === 'tool-result' ? [writeResult(writing, block)] : [],
  );
  const shown = answered.flatMap((block) => shownToModel(writing, block));
  const rest = withFirst(shown, replies.flatMap(withoutResults));
  return [...messages, ...rest.map((message) => writeReply(writing, message))];
}

/** What is left of a message; nothing of one that said nothing else, which servers refuse. */
function withoutResults(message: Message): readonly Message[] {
  const content = message.content.filter(isSaid);
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isSaid(block: Block): boolean {
  return block.kind === 'text' ? block.text !== '' : block.kind === 'media';
}

/** What a message with the result cannot hold: its media, and what answers no call. */
function shownToModel(writing: TurnWriting, block: Block): readonly Block[] {
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

function writeResult(writing: TurnWriting, { callId, content, isError }: ToolResultBlock): WireRecord {
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

function writeReply(writing: TurnWriting, message: Message): WireRecord {
  const content = message.content.filter((block) => block.kind === 'text' || block.kind === 'media');
  const role = message.role === 'system' ? instructionRole(writing) : message.role;
  return { role, ...writeName(writing, message), content: writeContent(writing, content) };
}

/** Not every server knows names. */
function writeName(writing: TurnWriting, { name }: Pick<Message, 'name'>): WireRecord {
  if (name === null) return {};
  if (writing.knowsAll) return { name };
  writing.lose(dropped('messages[].name'));
  return {};
}
