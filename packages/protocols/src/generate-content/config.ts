import { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, KeyNames } from '../bytes/key-names.ts';
import type { Fault } from '../error.ts';
import { outputTokensMax } from '../request/read-members.ts';
import { invalid, type MemberSpan } from '../request/request-members.ts';
import { type Result, succeed } from '../result.ts';
import { type ConfigMember, configMembers } from './wire.ts';

/** What routing and admission read of `generationConfig`. */
export interface Config {
  /** Tokens; null when the caller set no limit. */
  readonly maxOutputTokens: number | null;
  readonly candidateCount: number;
  readonly isStructured: boolean;
  readonly wantsAudio: boolean;
}

const candidatesMax = 128;

const names = new KeyNames([...configMembers.keys()]);

/** Reads the few members that matter; a schema may be long and is not looked at. Without a span everything is as by default. */
export function readConfig(body: Uint8Array, span: MemberSpan | undefined): Result<Config, Fault> {
  const spans = findSpans(body, span);
  if (!spans.ok) return spans;
  const memberOf = (name: ConfigMember): unknown => {
    const found = spans.value.get(name);
    return found === undefined ? null : decodeJson(body, found.start, found.end);
  };
  const limit = readWhole(memberOf('maxOutputTokens'), 'maxOutputTokens', outputTokensMax);
  if (!limit.ok) return limit;
  const candidates = readWhole(memberOf('candidateCount'), 'candidateCount', candidatesMax);
  if (!candidates.ok) return candidates;
  return succeed({
    maxOutputTokens: limit.value,
    candidateCount: candidates.value ?? 1,
    isStructured: spans.value.has('schema') || isStructuredType(memberOf('responseMimeType')),
    wantsAudio: listsAudio(memberOf('responseModalities')),
  });
}

type Spans = ReadonlyMap<ConfigMember, { readonly start: number; readonly end: number }>;

function findSpans(body: Uint8Array, span: MemberSpan | undefined): Result<Spans, Fault> {
  const spans = new Map<ConfigMember, { readonly start: number; readonly end: number }>();
  const reader = new JsonReader(body, span?.start ?? body.length);
  if (span === undefined || reader.kind === 'null') return succeed(spans);
  if (!reader.enterObject())
    return invalid("'generationConfig' must be an object, or be left out.", 'generationConfig');
  while (reader.nextMember()) {
    const spelled = names.findDecoded(body, reader.keyStart, reader.keyEnd);
    const start = reader.at;
    const end = reader.skip();
    const name = configMembers.get(spelled ?? '');
    if (name === undefined) continue;
    if (spans.has(name) && name !== 'schema')
      return invalid(`'generationConfig.${name}' is given twice; send it once.`, `generationConfig.${name}`);
    if (body[start] !== 0x6e) spans.set(name, { start, end });
  }
  return succeed(spans);
}

/** A whole number, or one in a string, as this protocol's JSON may have it. Zero is its way of saying nothing. */
function readWhole(value: unknown, name: string, max: number): Result<number | null, Fault> {
  if (value === null) return succeed(null);
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > max) {
    const param = `generationConfig.${name}`;
    return invalid(`'${param}' must be a whole number up to ${max}, or be left out.`, param);
  }
  return succeed(number === 0 ? null : number);
}

function isStructuredType(mimeType: unknown): boolean {
  return mimeType === 'application/json' || mimeType === 'text/x.enum';
}

function listsAudio(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.includes('AUDIO');
}
