import type { Fault } from '../../error.ts';
import type { RequestInput } from '../../inbound-request.ts';
import { parseJson } from '../../refusal.ts';
import { invalid } from '../../request/request-members.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { TurnNotes } from '../../translate/turn-notes.ts';
import type { Message, TextBlock, Turn } from '../../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { plainWord } from './plain-word.ts';
import { ConversationReader } from './read-items.ts';
import { textBlock } from './read-parts.ts';
import { noteExtensions, readSettings, spellingIn } from './read-settings.ts';
import { noteHosted, readToolChoice, readTools } from './read-tools.ts';

const decoder = new TextDecoder();

/** A caller's request. Every list and text in it is gone through once. */
export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = parseJson(decoder.decode(body));
  if (!isRecord(wire)) return invalid('The request body must be a JSON object.');
  const notes = new TurnNotes();
  const turn = turnOf(wire, notes);
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

function turnOf(wire: WireRecord, notes: TurnNotes): Omit<Turn, 'extensions'> {
  const conversation = readInput(wire['input'], notes);
  const [leading, messages] = splitLeading(conversation.messages);
  const offered = readTools(wire['tools'], 'tools', notes);
  const tools = [...offered.tools, ...conversation.tools];
  const toolChoice = readToolChoice(wire['tool_choice'], notes);
  noteHosted({ tools, hosted: [...offered.hosted, ...conversation.hosted] }, toolChoice, notes);
  noteExtensions(wire, notes, plainWord);
  return {
    surface: 'responses',
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    system: [...readInstructions(wire['instructions'], notes), ...leading],
    messages,
    tools,
    toolChoice,
    settings: readSettings(wire, notes),
    spelling: spellingIn(wire),
  };
}

/** A text is the user's only message. No input at all is as good as an empty one: what else there is goes on. */
function readInput(input: unknown, notes: TurnNotes): ConversationReader {
  const conversation = new ConversationReader(notes);
  if (typeof input === 'string') conversation.read({ role: 'user', content: input }, 'input');
  for (const [index, item] of listOf(input).entries()) conversation.read(recordOf(item), `input[${index}]`);
  return conversation;
}

function readInstructions(instructions: unknown, notes: TurnNotes): readonly TextBlock[] {
  if (instructions === null || instructions === undefined || instructions === '') return [];
  const text = stringOf(instructions);
  if (text !== null) return [textBlock(text)];
  notes.blame('instructions', "'instructions' must be a text.");
  return [];
}

/** What is said to the model before anybody speaks belongs to the instructions. */
function splitLeading(messages: readonly Message[]): readonly [readonly TextBlock[], readonly Message[]] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const count = first === -1 ? messages.length : first;
  const leading = messages.slice(0, count).flatMap(({ content }) => content);
  return [leading.filter((block) => block.kind === 'text'), messages.slice(count)];
}
