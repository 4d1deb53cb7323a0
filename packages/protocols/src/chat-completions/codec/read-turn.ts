import { decodeJson } from '../../bytes/key-names.ts';
import type { Fault } from '../../error.ts';
import type { RequestInput } from '../../inbound-request.ts';
import { invalid } from '../../request/request-members.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { plainWord, TurnNotes } from '../../translate/turn-notes.ts';
import type { Turn } from '../../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readMessages } from './read-messages.ts';
import { readSettings, readSpelling } from './read-settings.ts';
import { readTools } from './read-tools.ts';

export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire)) return invalid('The request body must be a JSON object in UTF-8.');
  const notes = new TurnNotes();
  const turn = readBody(wire, notes);
  noteOwnMembers(wire, notes);
  if (notes.fault !== null) return fail(notes.fault);
  return succeed({ ...turn, extensions: notes.extensions });
}

function readBody(wire: WireRecord, notes: TurnNotes): Turn {
  return {
    surface: 'chat-completions',
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    ...readMessages(wire['messages'], notes),
    ...readTools(wire, notes),
    settings: readSettings(wire, notes),
    spelling: readSpelling(wire),
    extensions: [],
  };
}

/** Members that have a place in a turn, and what says nothing about the answer. */
const unified: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'web_search_options',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'n',
  'parallel_tool_calls',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'response_format',
  'verbosity',
  'safety_identifier',
  'user',
  'service_tier',
  'prompt_cache_key',
  'metadata',
]);

/** Members the answer depends on and no other protocol has; whatever is not known is a hint. */
const insisted: ReadonlySet<string> = new Set(['audio', 'moderation']);

function noteOwnMembers(wire: WireRecord, notes: TurnNotes): void {
  for (const [name, value] of Object.entries(wire)) {
    if (unified.has(name) || isUnset(value)) continue;
    if (insisted.has(name)) notes.insist(name);
    else if (name === 'modalities') noteModalities(value, notes);
    else notes.lose(plainWord(name));
  }
}

/** What asks for nothing beside what happens anyway. */
function isUnset(value: unknown): boolean {
  return value === null || value === false || (Object.keys(recordOf(value)).length === 0 && isRecord(value));
}

function noteModalities(value: unknown, notes: TurnNotes): void {
  const others = listOf(value).filter((modality) => modality !== 'text');
  if (others.length > 0) notes.insist('modalities');
}
