import {
  type Codec,
  defaultDialect,
  type Fault,
  type Loss,
  type MediaByUrl,
  protocols,
  type Result,
  remoteMediaOf,
  type TranslationTarget,
  type Turn,
  unreachable,
  type WrittenTurn,
  withMedia,
} from '@headgate/protocols';
import { type Landing, landings } from './difference.ts';
import type { Members, Probe, ProbeGroup, ProbeSheet, SurfaceId } from './probe.ts';

/** The fate of one thing a caller sends, at one upstream. */
export type Outcome =
  | { readonly kind: 'carried'; readonly landed: readonly Landing[] }
  | { readonly kind: 'changed'; readonly landed: readonly Landing[]; readonly losses: readonly Loss[] }
  | { readonly kind: 'dropped'; readonly landed: readonly Landing[]; readonly losses: readonly Loss[] }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** It is nowhere, and nobody is told: right only for what asks nothing of an upstream (`Probe.here`). */
  | { readonly kind: 'silent' };

/** An upstream as far as a codec can tell them apart. */
export interface TargetKind {
  /** As a page names it. */
  readonly name: string;
  readonly target: TranslationTarget;
}

const plainTarget: TranslationTarget = {
  upstreamModel: 'model',
  path: '/{model}:{action}',
  dialect: defaultDialect,
  origin: 'here',
  maxOutputTokens: 8_192,
  reasoning: false,
};

const ownDialect = { ...defaultDialect, chatVocabulary: 'own' } as const;

/** The kinds of upstreams of a protocol; the first is the one the others are compared with. */
export function targetKinds(upstream: SurfaceId): readonly TargetKind[] {
  const kinds: readonly TargetKind[] = [
    { name: 'ordinary', target: plainTarget },
    { name: 'thinking', target: { ...plainTarget, reasoning: true } },
  ];
  if (upstream !== 'chat-completions' && upstream !== 'responses') return kinds;
  return [
    ...kinds,
    { name: 'own', target: { ...plainTarget, dialect: ownDialect } },
    { name: 'own, thinking', target: { ...plainTarget, dialect: ownDialect, reasoning: true } },
  ];
}

/** Translates the request with the probe in it and without it, and compares. */
export function outcomeOf(
  sheet: ProbeSheet,
  group: ProbeGroup,
  probe: Probe,
  upstream: SurfaceId,
  target: TranslationTarget,
): Outcome {
  const beside = { ...sheet.base, ...group.beside, ...probe.beside };
  const without = written(sheet.surface, beside, {}, upstream, target);
  if (!without.ok) throw new Error(`${probe.member} has no request to stand in: ${without.error.message}`);
  const withIt = written(sheet.surface, { ...beside, ...probe.sent }, probe.headers, upstream, target);
  if (!withIt.ok) return { kind: 'refused', fault: withIt.error };
  const losses = newLosses(without.value.losses, withIt.value.losses);
  const landed = landings(requestOf(without.value), requestOf(withIt.value), scalarsOf(probe.sent));
  if (losses.length === 0)
    return isThere(probe, landed, withIt.value) ? { kind: 'carried', landed } : { kind: 'silent' };
  const kind = losses.some(({ action }) => action === 'changed') ? 'changed' : 'dropped';
  return { kind, landed, losses };
}

/** The probe's own words must have arrived, if it has any. */
function isThere({ sent }: Probe, landed: readonly Landing[], { request }: WrittenTurn): boolean {
  if (landed.length === 0) return false;
  return !JSON.stringify(sent).includes('canary') || bodyText(request).includes('canary');
}

function written(
  surface: SurfaceId,
  body: Members,
  headers: Readonly<Record<string, string>>,
  upstream: SurfaceId,
  target: TranslationTarget,
): Result<WrittenTurn, Fault> {
  const turn = read(surface, body, headers);
  if (!turn.ok) return turn;
  const codec = codecOf(upstream);
  return codec.writeTurn(withMedia(turn.value, fetched(turn.value, codec)), target);
}

/** The gateway fetches this for an upstream that opens no URLs. */
function fetched(turn: Turn, { mediaByUrl }: Codec): MediaByUrl {
  const mediaType = (url: string) => (url.endsWith('.pdf') ? 'application/pdf' : 'image/png');
  const urls = remoteMediaOf(turn, mediaByUrl);
  return new Map(urls.map((url) => [url, { mediaType: mediaType(url), base64: 'canary++' }]));
}

function read(
  surface: SurfaceId,
  body: Members,
  headers: Readonly<Record<string, string>>,
): Result<Turn, Fault> {
  return codecOf(surface).readTurn({
    work: 'answer',
    body: new TextEncoder().encode(JSON.stringify(body)),
    header: (name) => headers[name],
    path: '/v1beta/models/model:generateContent',
    params: { model: 'model', action: 'generateContent' },
    search: '',
  });
}

/** The codec of a protocol that is translated. Throws for one that is not. */
export function codecOf(id: SurfaceId): Codec {
  const codec = protocols[id]?.codec ?? null;
  if (codec === null) throw new Error(`${id} has no codec`);
  return codec;
}

/** The losses that are there because of the probe. */
function newLosses(before: readonly Loss[], after: readonly Loss[]): readonly Loss[] {
  const known = new Set(before.map((loss) => JSON.stringify(loss)));
  return after.filter((loss) => !known.has(JSON.stringify(loss)));
}

/** A request as one record, headers and path included. */
function requestOf({ request }: WrittenTurn): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(bodyText(request));
  return { path: request.path, headers: request.headers, ...(body as Readonly<Record<string, unknown>>) }; // Codecs write objects.
}

function bodyText({ body }: WrittenTurn['request']): string {
  return body.map((piece) => new TextDecoder().decode(piece)).join('');
}

/** Every single value in it, as text. */
function scalarsOf(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set([String(value)]);
  return new Set(Object.values(value).flatMap((member) => [...scalarsOf(member)]));
}

/** A caller is told of a loss in words that are not its own: `messages[].name` to one that sent `contents`. */
export function foreignWords(
  sheet: ProbeSheet,
  group: ProbeGroup,
  probe: Probe,
  outcome: Outcome,
): readonly string[] {
  const request = { ...sheet.base, ...group.beside, ...probe.beside, ...probe.sent };
  const own = new Set([...wordsOf(request), ...Object.keys(probe.headers)]);
  const told = toldBy(outcome).filter(
    (field) =>
      !sheet.collective.includes(field) &&
      field.split(/\[\d*\]\.?|\./).some((word) => word !== '' && !own.has(word)),
  );
  return [...new Set(told)];
}

function toldBy(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case 'changed':
    case 'dropped':
      return outcome.losses.map(({ field }) => field);
    case 'refused':
      return [outcome.fault.param ?? 'nothing'];
    case 'carried':
    case 'silent':
      return [];
    default:
      return unreachable(outcome);
  }
}

/** Every name and every single value in it. */
function wordsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, member]) => [name, ...wordsOf(member)]);
}
