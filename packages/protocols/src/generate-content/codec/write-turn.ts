import type { TranslationTarget, WrittenTurn } from '../../codec.ts';
import type { Fault } from '../../error.ts';
import { jsonType } from '../../request/upstream-request.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { extensionLosses } from '../../translate/extension-losses.ts';
import { settingLosses } from '../../translate/setting-losses.ts';
import { ToolNaming } from '../../translate/tool-names.ts';
import { type TraitSupport, traitLosses } from '../../translate/trait-losses.ts';
import { WriteNotes } from '../../translate/write-notes.ts';
import type { Turn } from '../../turn.ts';
import { pathOf } from '../upstream.ts';
import { writeContents } from './write-contents.ts';
import { settingSupport, writeSettings } from './write-settings.ts';
import { nameRule, writeToolMembers } from './write-tools.ts';

const encoder = new TextEncoder();

const traitSupport: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'dropped',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const ofSettings = settingLosses(turn, settingSupport(turn, target));
  if (!ofSettings.ok) return ofSettings;
  const ofExtensions = extensionLosses(turn, 'generate-content');
  if (!ofExtensions.ok) return ofExtensions;
  const notes = new WriteNotes();
  const ofTraits = traitLosses(turn, 'generate-content', traitSupport);
  notes.add([...ofSettings.value, ...ofExtensions.value, ...ofTraits]);
  const naming = new ToolNaming(turn, nameRule);
  const body = {
    contents: writeContents(turn, { surface: turn.surface, notes, naming, origin: target.origin }),
    ...writeSystem(turn),
    ...writeToolMembers(turn, target, { notes, naming }),
    ...writeSettings(turn, target, notes),
  };
  if (notes.fault !== null) return fail(notes.fault);
  const action = turn.stream ? 'streamGenerateContent' : 'generateContent';
  return succeed({
    request: {
      path: pathOf(target, action, turn.stream ? 'sse' : null),
      contentType: jsonType,
      headers: [],
      body: [encoder.encode(JSON.stringify(body))],
      edits: [],
    },
    losses: notes.losses,
    names: naming.names,
  });
}

function writeSystem({ system }: Turn): object {
  const parts = system.flatMap(({ text }) => (text.trim() === '' ? [] : [{ text }]));
  return parts.length === 0 ? {} : { systemInstruction: { parts } };
}
