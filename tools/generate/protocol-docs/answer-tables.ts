import type { Block, Finish, TurnAnswer, WriterContext } from '@headgate/protocols';
import { alignedTable } from '../aligned-table.ts';
import { landings } from './difference.ts';
import { codecOf } from './outcome.ts';
import { type SurfaceId, surfaces } from './probe.ts';

const text = { kind: 'text', text: 'Yes.', citations: [], cacheTtl: null } as const;
const sealed = { origin: 'there', data: 'canary', form: 'signature' } as const;
const citation = { url: 'https://example.org/canary', title: 'T', quote: 'q', start: 0, end: 3 };
const call = {
  kind: 'tool-call',
  id: 'call_1',
  name: 'weather',
  namespace: null,
  form: 'function',
  input: '{"city":"canary"}',
  sealed: null,
} as const;

function media(kind: 'image' | 'audio', mediaType: string): Block {
  const source = { kind: 'base64', data: 'canary++' } as const;
  return { kind: 'media', media: kind, mediaType, source, filename: null, detail: null, cacheTtl: null };
}

/** An answer may be made of these, beside its text. */
const pieces: readonly (readonly [string, readonly Block[]])[] = [
  ['thoughts, where they are asked for', [{ kind: 'reasoning', text: 'canary', sealed: null }, text]],
  ['sealed thoughts', [{ kind: 'reasoning', text: '', sealed }, text]],
  ['the source of a statement', [{ ...text, citations: [citation] }]],
  ['a refusal in words', [text, { kind: 'refusal', text: 'canary' }]],
  ['a call of a function', [text, call]],
  ['a call of a custom tool', [text, { ...call, form: 'custom', input: 'canary' }]],
  ['a call with sealed state', [text, { ...call, sealed }]],
  ['a picture', [text, media('image', 'image/png')]],
  ['a sound', [text, media('audio', 'audio/wav')]],
];

const reasons: readonly (readonly [string, Finish['reason']])[] = [
  ['it is complete', 'stop'],
  ['a tool is to be called', 'tool-calls'],
  ['the limit of output is reached', 'length'],
  ['a filter stopped it', 'content-filter'],
  ['the model refused', 'refusal'],
];

/** The parts of an answer from elsewhere, as callers of each surface get them. */
export function answerTable(): string {
  const rows = pieces.map(([name, content]) => [
    name,
    ...surfaces.map((surface) => pieceCell(surface, content)),
  ]);
  return alignedTable([['in the answer', ...surfaces], ...rows]);
}

/** By which word callers of each surface learn how an answer ended. */
export function endingTable(): string {
  const rows = reasons.map(([name, reason]) => [
    name,
    ...surfaces.map((surface) => endingCell(surface, reason)),
  ]);
  return alignedTable([['how it ended', ...surfaces], ...rows]);
}

function pieceCell(surface: SurfaceId, content: readonly Block[]): string {
  const known = new Set(['Yes.', 'canary', 'T', 'q', '0', '3', 'weather', 'call_1']);
  const landed = landings(written(surface, [text], 'stop'), written(surface, content, 'stop'), known);
  const [first] = landed.filter(({ word }) => word !== 'left out');
  if (first === undefined) return 'left out';
  return first.word === '' ? `\`${first.path}\`` : `\`${first.path}\` (${first.word})`;
}

/** Compared with an ending that no surface has a word of its own for. */
function endingCell(surface: SurfaceId, reason: Finish['reason']): string {
  const content = reason === 'tool-calls' ? [call] : [text];
  const answer = written(surface, content, reason);
  const words = endingWords[surface].flatMap((path) => {
    const word = at(answer, path);
    return word === null || word === undefined ? [] : [`\`${String(word)}\``];
  });
  return words.join(', ');
}

/** The place where each protocol says it. */
const endingWords: Readonly<Record<SurfaceId, readonly string[]>> = {
  'chat-completions': ['choices.0.finish_reason'],
  responses: ['status', 'incomplete_details.reason', 'error.code'],
  messages: ['stop_reason'],
  'generate-content': ['candidates.0.finishReason'],
};

type Json = Readonly<Record<string, unknown>>;

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null ? (inner as Json)[name] : undefined; // An object has members.
  }, value);
}

function written(surface: SurfaceId, content: readonly Block[], reason: Finish['reason']): Json {
  const finish = { reason, rawReason: null, stopSequence: null, usage: null };
  const answer: TurnAnswer = { answerId: 'a1', model: 'model', content, finish };
  const bytes = codecOf(surface).writeAnswer(answer, contextOf(surface));
  return JSON.parse(new TextDecoder().decode(bytes)) as Json; // Codecs write objects.
}

function contextOf(surface: SurfaceId): WriterContext {
  const read = codecOf(surface).readTurn({
    work: 'answer',
    body: new TextEncoder().encode(
      '{"model":"model","max_tokens":9,"messages":[],"input":"x","contents":[]}',
    ),
    header: () => undefined,
    path: '',
    params: { model: 'model', action: 'generateContent' },
    search: '',
  });
  if (!read.ok) throw new Error(read.error.message);
  const reasoning = { effort: null, budgetTokens: null, shown: true };
  return {
    turn: { ...read.value, settings: { ...read.value.settings, reasoning } },
    traceId: '0123456789abcdef0123456789abcdef',
    createdS: 1_700_000_000,
    wantsUsageFrame: true,
    framing: 'sse',
    inputTokensEstimate: 1,
  };
}
