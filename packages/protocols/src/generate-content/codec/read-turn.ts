import { decodeJson } from '../../bytes/key-names.ts';
import type { Fault } from '../../error.ts';
import type { RequestInput } from '../../inbound-request.ts';
import { invalid } from '../../request/request-members.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { plainWord, TurnNotes } from '../../translate/turn-notes.ts';
import type { TextBlock, Turn } from '../../turn.ts';
import { isRecord, stringOf } from '../../wire-values.ts';
import { inCamelCase, spelledBy } from './camel-case.ts';
import { elementsOf, readContents } from './read-contents.ts';
import { readSettings, readSpelling } from './read-settings.ts';
import { readTools } from './read-tools.ts';

/** The caller's request. The model, and whether it wants a stream, stand in the path. */
export function readTurn({ body, params }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire)) return invalid('The request body must be a JSON object in UTF-8.');
  const notes = new TurnNotes();
  const members = inCamelCase(wire);
  const turn: Omit<Turn, 'extensions'> = {
    surface: 'generate-content',
    model: params.model ?? '',
    stream: params.action === 'streamGenerateContent',
    system: readSystem(members['systemInstruction']),
    messages: readContents(members, notes),
    ...readTools(members, notes),
    settings: readSettings(members, notes),
    spelling: readSpelling(wire),
  };
  for (const [name, value] of Object.entries(members)) {
    if (value === null || unified.has(name)) continue;
    if (insisted.has(name)) notes.insist(plainWord(spelledBy(wire, name)));
    else notes.lose(plainWord(spelledBy(wire, name)));
  }
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

/** Members that have a place in a turn. */
const unified: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'labels',
  'serviceTier',
]);

/** A part of the conversation that only the vendor has. */
const insisted: ReadonlySet<string> = new Set(['cachedContent', 'continuationToken']);

/** One block for each part: its role does not matter, and anything but text is refused by the vendor itself. */
function readSystem(wire: unknown): readonly TextBlock[] {
  const parts = typeof wire === 'string' ? [{ text: wire }] : elementsOf(inCamelCase(wire)['parts']);
  return parts.flatMap((part) => {
    const text = stringOf(inCamelCase(part)['text']) ?? '';
    return text === '' ? [] : [{ kind: 'text', text, citations: [], cacheTtl: null }];
  });
}
