import { isRecord, listOf, recordOf, type WireRecord } from '@headgate/protocols';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** A picture, a sound or a file is taken for this many tokens. */
const tokensPerMedia = 1_600;
/** The frame around a message takes this many tokens. */
const tokensPerMessage = 4;
/** Characters that are counted; of a longer prompt, the rest is taken to be like them. */
const charsMax = 400_000;

const decoder = new TextDecoder();

/** The tokens of a request's prompt by one widespread vocabulary: near to those of other models, and exact for few. */
export function countPrompt(body: Uint8Array): number {
  const { texts, media, messages } = promptText(JSON.parse(decoder.decode(body)));
  return countTexts(texts) + media * tokensPerMedia + messages * tokensPerMessage;
}

function countTexts(texts: readonly string[]): number {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  let tokens = 0;
  let counted = 0;
  for (const piece of pieces(texts)) {
    tokens += countTokens(piece, { disallowedSpecial: new Set() });
    counted += piece.length;
    if (counted >= charsMax) break;
  }
  return counted === 0 ? 0 : Math.ceil((tokens * chars) / counted);
}

function* pieces(texts: readonly string[]): Generator<string, void, undefined> {
  for (const text of texts) {
    for (let at = 0; at < text.length; at += charsMax) yield* cutRuns(text.slice(at, at + charsMax));
  }
}

/** Collects the text of a request that a model reads, for a count of our own. */
export interface PromptText {
  readonly texts: readonly string[];
  /** Pictures, sounds and files. */
  readonly media: number;
  readonly messages: number;
}

/** Members that hold the prompt, in the protocols that count tokens; everything else of a request is no prompt. */
const promptMembers: readonly string[] = [
  'system',
  'messages',
  'systemInstruction',
  'system_instruction',
  'contents',
  'generateContentRequest',
  'generate_content_request',
];
const toolMembers: readonly string[] = ['tools'];

/** Read by servers, not by models. */
const silentMembers: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'tool_use_id',
  'media_type',
  'mimeType',
  'mime_type',
  'cache_control',
  'signature',
  'thoughtSignature',
  'thought_signature',
  'url',
  'fileUri',
  'file_uri',
  'file_id',
  'model',
]);
/** Arguments and results, which a model reads as the JSON they are. */
const jsonMembers: ReadonlySet<string> = new Set(['input', 'args', 'response']);

/** The prompt of a request in any protocol that counts tokens. */
export function promptText(request: unknown): PromptText {
  const texts: string[] = [];
  let media = 0;
  let messages = 0;
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      if (isData(value)) media++;
      else texts.push(value);
    } else if (Array.isArray(value)) listOf(value).forEach(walk);
    else if (isRecord(value)) walkRecord(value);
  };
  const walkRecord = (record: WireRecord): void => {
    if (typeof record['role'] === 'string') messages++;
    if (isReference(record)) media++;
    for (const [name, value] of Object.entries(record)) {
      if (jsonMembers.has(name) && isRecord(value)) texts.push(JSON.stringify(value));
      else if (toolMembers.includes(name)) texts.push(...listOf(value).map((tool) => JSON.stringify(tool)));
      else if (!silentMembers.has(name)) walk(value);
    }
  };
  const body = recordOf(request);
  for (const name of [...promptMembers, ...toolMembers]) {
    if (body[name] !== undefined) walkRecord({ [name]: body[name] });
  }
  return { texts, media, messages };
}

/** Strings from here on may be data. Characters. */
const dataCharsMin = 1_024;

/** Base64 and data URLs, which models do not read as text. */
function isData(text: string): boolean {
  return text.length >= dataCharsMin && /^(data:[^,]*,)?[A-Za-z0-9+/_=-]*$/.test(text);
}

/** Media that is somewhere else. */
function isReference(record: WireRecord): boolean {
  const isSource = record['type'] === 'url' || record['type'] === 'file';
  return isSource || 'fileUri' in record || 'file_uri' in record;
}

/** So long a run of one kind takes a tokenizer no longer than it must: its time grows with the square of the run. */
const runCharsMax = 256;

/** The text in pieces without longer runs of letters, or of white space; most texts are one piece. */
export function cutRuns(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  let run = 0;
  let wasSpace = false;
  for (let at = 0; at < text.length; at++) {
    const isSpace = text.charCodeAt(at) <= 0x20;
    run = isSpace === wasSpace ? run + 1 : 1;
    wasSpace = isSpace;
    if (run <= runCharsMax) continue;
    pieces.push(text.slice(from, at));
    from = at;
    run = 1;
  }
  return [...pieces, text.slice(from)];
}
