import { decodeJson } from '../../bytes/key-names.ts';
import { type Fault, fault } from '../../error.ts';
import type { RequestInput } from '../../inbound-request.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { TurnNotes } from '../../translate/turn-notes.ts';
import type { Message, TextBlock, Turn } from '../../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readCacheTtl } from './cache-control.ts';
import { readBlocks } from './read-blocks.ts';
import { readSettings, spellingOf } from './read-settings.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import { noteMembers } from './unshared-members.ts';

/** Reads a messages request. Every member of it is taken up, noted as an extension, or blamed. */
export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire))
    return fail(fault('invalid_request', { message: 'The request is not a JSON object.' }));
  if ((wire['thread'] ?? null) !== null)
    return fail(fault('thread_unsupported_request', { param: 'thread' }));
  const notes = new TurnNotes();
  const tools = readTools(listOf(wire['tools']), wire['tool_choice'], notes);
  const turn = {
    surface: 'messages' as const,
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    system: readSystem(wire['system'], notes),
    messages: listOf(wire['messages']).flatMap((message, at) => readMessage(message, at, notes)),
    tools,
    toolChoice: readToolChoice(recordOf(wire['tool_choice']), notes),
    settings: readSettings(wire, notes),
    spelling: spellingOf(wire),
  };
  noteMembers(wire, notes);
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

/**
 * A line that one caller puts before its instructions for the vendor's own accounts. It changes with every request, so that
 * no prompt cache would ever hold, and says nothing to a model.
 */
const accountingLine = /^x-[a-z]+-billing-header:/;

function readSystem(wire: unknown, notes: TurnNotes): readonly TextBlock[] {
  const blocks = typeof wire === 'string' ? [{ type: 'text', text: wire }] : listOf(wire);
  return blocks.map(recordOf).flatMap((block) => readInstruction(block, notes));
}

function readInstruction(block: WireRecord, notes: TurnNotes): readonly TextBlock[] {
  const text = stringOf(block['text']);
  if (text === null) {
    notes.blame('system', "'system' must be a text, or a list of blocks of text.");
    return [];
  }
  if (accountingLine.test(text) || text === '') return [];
  return [{ kind: 'text', text, citations: [], cacheTtl: readCacheTtl(block) }];
}

function readMessage(wire: unknown, at: number, notes: TurnNotes): readonly Message[] {
  const { role, content } = recordOf(wire);
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    notes.blame(`messages[${at}].role`, `'messages[${at}].role' must be 'user', 'assistant' or 'system'.`);
    return [];
  }
  if (typeof content !== 'string' && !Array.isArray(content)) {
    const param = `messages[${at}].content`;
    notes.blame(param, `'${param}' must be a text or a list of blocks.`);
    return [];
  }
  return [{ role, content: readBlocks(content, notes), name: null }];
}
