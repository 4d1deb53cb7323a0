import type { TranslationTarget, WrittenTurn } from '../../codec.ts';
import type { Fault } from '../../error.ts';
import { jsonType } from '../../request/upstream-request.ts';
import { fail, type Result, succeed } from '../../result.ts';
import { extensionLosses } from '../../translate/extension-losses.ts';
import { type TraitSupport, traitLosses } from '../../translate/trait-losses.ts';
import type { Turn } from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import { TurnWriting } from './turn-writing.ts';
import { writeMessages } from './write-messages.ts';
import { writeSettings } from './write-settings.ts';
import { writeTools } from './write-tools.ts';

const encoder = new TextEncoder();

/** Caches of this protocol need no marks. */
const traitSupport: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const extensions = extensionLosses(turn, 'chat-completions');
  if (!extensions.ok) return extensions;
  const writing = new TurnWriting(turn, target);
  writing.lose(...extensions.value, ...traitLosses(turn, 'chat-completions', traitSupport));
  const body = {
    model: target.upstreamModel,
    ...writeStream(turn, target),
    messages: writeMessages(writing),
    ...writeTools(writing),
    ...writeSettings(writing),
  };
  if (writing.fault !== null) return fail(writing.fault);
  return succeed({
    request: {
      path: target.path,
      contentType: jsonType,
      headers: [],
      body: [encoder.encode(JSON.stringify(body))],
      edits: [],
    },
    losses: writing.losses,
    names: writing.naming.names,
  });
}

/** Usage is always asked for: the meter needs it, and what the caller gets is written anew. */
function writeStream({ stream }: Turn, { dialect }: TranslationTarget): WireRecord {
  if (!stream) return {};
  return { stream, stream_options: dialect.usageInStream ? { include_usage: true } : undefined };
}
