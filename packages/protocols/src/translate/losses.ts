import { changed, dropped, type Loss } from '../codec.ts';
import { type Fault, fault } from '../error.ts';
import { fail, type Result, succeed, unreachable } from '../result.ts';
import type { Block, MediaBlock, Surface, Trait, Turn, TurnSettingName } from '../turn.ts';

/**
 * The way a target takes a setting: `carried` by its codec (which tells its own changes), `dropped` as a loss, or `refused`
 * because the answer would not be what was asked for.
 */
export type SettingSupport = Readonly<Record<TurnSettingName, 'carried' | 'dropped' | 'refused'>>;

/**
 * The losses of a request's settings at a target. Every codec declares all of them, so that none is forgotten; only what
 * the caller has set counts. A fault where one is refused.
 */
export function settingLosses(turn: Turn, support: SettingSupport): Result<readonly Loss[], Fault> {
  const losses: Loss[] = [];
  for (const name of settingNames(support)) {
    if (support[name] === 'carried' || !isAsked(turn, name)) continue;
    if (support[name] === 'refused') return fail(unsupported(spellingOf(turn, name)));
    losses.push(dropped(spellingOf(turn, name)));
  }
  return succeed(losses);
}

/** The setting as the caller spells it. */
export function spellingOf(turn: Turn, name: TurnSettingName): string {
  return turn.spelling[name] ?? name;
}

/** Something no channel of another protocol can honour. */
export function unsupported(field: string, remedy = 'leave it out'): Fault {
  const message = `'${field}' cannot be honoured by any channel that serves this model now; ${remedy}.`;
  return fault('invalid_request', { message, param: field, upstreamCode: 'unsupported_parameter' });
}

export function settingNames(support: SettingSupport): readonly TurnSettingName[] {
  return Object.keys(support) as TurnSettingName[]; // The keys of a record over a closed union are that union.
}

/** A value that says what happens anyway asks for nothing. */
export function isAsked({ settings }: Turn, name: TurnSettingName): boolean {
  switch (name) {
    case 'temperature':
    case 'topP':
      return settings[name] !== null && settings[name] !== 1;
    case 'choices':
      return settings.choices !== null && settings.choices !== 1;
    case 'outputFormat':
      return settings.outputFormat !== null && settings.outputFormat.kind !== 'text';
    case 'stop':
      return settings.stop !== null && settings.stop.length > 0;
    case 'presencePenalty':
    case 'frequencyPenalty':
      return settings[name] !== null && settings[name] !== 0;
    case 'parallelToolCalls':
      return settings.parallelToolCalls === false;
    case 'serviceTier':
      return (
        settings.serviceTier !== null && settings.serviceTier !== 'auto' && settings.serviceTier !== 'default'
      );
    default:
      return settings[name] !== null;
  }
}

/** The way a target takes what content bears. */
export type TraitSupport = Readonly<Record<Trait, 'carried' | 'dropped'>>;

/**
 * The losses of what blocks and tools bear beside their content, at a target of another protocol. Every codec declares all
 * of it, so that nothing is forgotten; only what is there counts.
 */
export function traitLosses(turn: Turn, target: Surface, support: TraitSupport): readonly Loss[] {
  if (turn.surface === target) return [];
  const lost = [...traitsOf(turn)].filter((trait) => support[trait] === 'dropped');
  return lost.map((trait) => dropped(turn.surface.traits[trait], noteOf(trait)));
}

function noteOf(trait: Trait): string | null {
  return trait === 'cache-mark' ? 'prefixes are cached without it' : null;
}

export function traitsOf({ system, tools, messages }: Turn): ReadonlySet<Trait> {
  const found = new Set<Trait>();
  for (const block of system) noteBlock(block, found);
  for (const tool of tools) if (tool.kind === 'function') noteCache(tool, found);
  for (const { content } of messages) for (const block of content) noteBlock(block, found);
  return found;
}

function noteBlock(block: Block, found: Set<Trait>): void {
  switch (block.kind) {
    case 'text':
      if (block.citations.length > 0) found.add('citations');
      return noteCache(block, found);
    case 'media':
      noteMedia(block, found);
      return noteCache(block, found);
    case 'tool-result':
      for (const part of block.content) noteBlock(part, found);
      return noteCache(block, found);
    case 'tool-call':
      // State that another target has sealed is left out without a word: it is of no use to the caller either.
      if (block.sealed?.origin === 'native') found.add('call-seal');
      return;
    case 'reasoning':
    case 'refusal':
      return;
    default:
      return unreachable(block);
  }
}

function noteCache({ cacheTtl }: { readonly cacheTtl: unknown }, found: Set<Trait>): void {
  if (cacheTtl !== null) found.add('cache-mark');
}

function noteMedia({ media, detail, filename, source }: MediaBlock, found: Set<Trait>): void {
  if (detail === 'low' || detail === 'high') found.add('image-detail');
  // The name of a text is sent as its first line.
  if (filename === null || filename === '' || source.kind === 'text') return;
  found.add(media === 'file' ? 'filename' : 'media-name');
}

/** The losses of what only the caller's protocol has, at a target of another one. A fault where one may not be lost. */
export function extensionLosses(turn: Turn, target: Surface): Result<readonly Loss[], Fault> {
  if (turn.surface === target) return succeed([]);
  const refused = turn.extensions.find(({ elsewhere }) => elsewhere === 'refuse');
  if (refused !== undefined) return fail(unsupported(refused.field));
  return succeed(
    turn.extensions.map(({ field, elsewhere }) =>
      elsewhere === 'text' ? changed(field, 'sent as text') : dropped(field),
    ),
  );
}
