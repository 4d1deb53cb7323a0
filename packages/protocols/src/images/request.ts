import { decodeJson, KeyNames, type TextSpan } from '../bytes/json-text.ts';
import { decodeText, type FormPart, formBoundary, readForm } from '../bytes/multipart.ts';
import type { JsonReader } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import { type Fault, fault } from '../error.ts';
import { editedRequest, jsonType, modelEdits, replace } from '../request/edits.ts';
import {
  findMembers,
  invalid,
  outputTokensMax,
  type RequestMembers,
  readModelAndStream,
  readWhole,
  type SurveyedBody,
} from '../request/members.ts';
import { findNames, type NamedMember, type NameSearch, namesInFields } from '../request/named-models.ts';
import type { EncodedRequest, Facts, PassthroughTarget } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { noTerms, termWord, type UsageTerms } from '../usage.ts';
import { type ImageOperation, type RequestMember, requestMembers } from './wire.ts';

/** A request as read, from JSON or from a form. */
export interface ReadRequest {
  readonly facts: Facts;
  readonly body: Uint8Array;
  /** A form's as it came, since its boundary is in it. */
  readonly contentType: string;
  /** Puts the upstream's own name in the place of the alias. */
  modelEdits(upstreamModel: string): readonly Edit[];
  names(search: NameSearch): readonly NamedMember[] | null;
}

/** The members of a request that its facts follow from. */
export interface Wishes {
  readonly model: string;
  readonly stream: boolean;
  readonly choices: number | null;
  readonly promptBytes: number;
  /** Images to be read, masks included. */
  readonly pictures: number;
  readonly terms: UsageTerms;
}

/** Bytes of text per token, as for any other text. */
const bytesPerToken = 4;
/** The estimate for one picture. Tokens; for admission only. */
const tokensPerPicture = 1_000;

function factsOf(wishes: Wishes): Facts {
  const { model, stream, choices, promptBytes, pictures, terms } = wishes;
  return {
    model,
    stream,
    maxOutputTokens: null,
    inputTokensEstimate: Math.ceil(promptBytes / bytesPerToken) + pictures * tokensPerPicture,
    choices: choices ?? 1,
    needs: new Set(pictures > 0 ? ['image-input'] : []),
    makesImages: true,
    terms,
  };
}

/** More are not counted: no server takes a tenth of them. */
const picturesMax = 1_000;

const names = new KeyNames<RequestMember>(requestMembers);
/** Reads JSON. What is wrong for this protocol alone, such as a missing prompt, is for the upstream to say. */
export function readJson(input: SurveyedBody): Result<ReadRequest, Fault> {
  const { body } = input;
  const found = findMembers<RequestMember>(input, names);
  if (!found.ok) return found;
  const members = found.value;
  const asked = readModelAndStream(members);
  if (!asked.ok) return asked;
  const choices = readWhole(members, 'n', [1, outputTokensMax]);
  if (!choices.ok) return choices;
  const facts = factsOf({
    ...asked.value,
    choices: choices.value,
    promptBytes: lengthOf(members, 'prompt'),
    pictures: countPictures(members),
    terms: { ...noTerms, size: termWord(members.value('size')), quality: termWord(members.value('quality')) },
  });
  const edits = (upstreamModel: string) => modelEdits(members.span('model'), facts.model, upstreamModel);
  const named = (search: NameSearch) => findNames(members, undefined, search);
  return succeed({ facts, body, contentType: jsonType, modelEdits: edits, names: named });
}

function lengthOf(members: RequestMembers<RequestMember>, name: RequestMember): number {
  const span = members.span(name);
  return span === undefined ? 0 : span.end - span.start;
}

/** One each, or a list of them; some servers take a single `image`. */
function countPictures(members: RequestMembers<RequestMember>): number {
  return (['images', 'image', 'mask'] as const).reduce((sum, name) => sum + countIn(members, name), 0);
}

function countIn(members: RequestMembers<RequestMember>, name: RequestMember): number {
  const reader = members.reader(name);
  if (reader === null || reader.kind === 'null') return 0;
  if (!reader.enterArray()) return 1;
  let count = 0;
  for (; count < picturesMax && reader.nextElement(); count++) reader.skip();
  return count;
}

/** A value longer than this is none of those read as text. Bytes. */
const valueBytesMax = 1_024;

/** Reads `multipart/form-data`: texts for every scalar, files for the images (`image`, `image[]`, `image[0]`, `mask`). */
export function readFormRequest(
  { body, survey = null }: SurveyedBody,
  contentType: string,
): Result<ReadRequest, Fault> {
  const boundary = formBoundary(contentType);
  if (boundary === null)
    return invalid("A form must name its boundary: 'multipart/form-data; boundary=…'.", 'content-type');
  const form = readForm(body, boundary, survey?.delimiters ?? null);
  if (!form.ok) return invalid(`The form ${form.problem}.`);
  const fields = indexFields(form.parts);
  if (!fields.ok) return fields;
  const wishes = readWishes(body, fields.value);
  if (!wishes.ok) return wishes;
  const facts = factsOf(wishes.value);
  const part = fields.value.texts.get('model');
  return succeed({
    facts,
    body,
    contentType,
    names: (search) => namesInFields(textsOf(body, form.parts), search),
    modelEdits: (upstreamModel) =>
      part === undefined || upstreamModel === facts.model
        ? []
        : [replace('model', part.start, part.end, upstreamModel)],
  });
}

function textsOf(body: Uint8Array, parts: readonly FormPart[]) {
  return parts.flatMap((part) => {
    const text = part.isFile ? null : readText(body, part);
    return text === null ? [] : [{ ...part, text }];
  });
}

interface Fields {
  readonly texts: ReadonlyMap<RequestMember, FormPart>;
  readonly pictures: number;
}

/** Refuses a text given twice, and a file in the place of one. */
function indexFields(parts: readonly FormPart[]): Result<Fields, Fault> {
  const texts = new Map<RequestMember, FormPart>();
  let pictures = 0;
  for (const part of parts) {
    if (/^(image(\[\d*\])?|mask)$/.test(part.name)) {
      pictures++;
      continue;
    }
    const name = requestMembers.find((member) => member === part.name);
    if (name === undefined) continue;
    if (part.isFile) return invalid(`'${name}' must be a text, not a file.`, name);
    if (texts.has(name)) return invalid(`'${name}' is given twice; send it once.`, name);
    texts.set(name, part);
  }
  return succeed({ texts, pictures });
}

function readWishes(body: Uint8Array, { texts, pictures }: Fields): Result<Wishes, Fault> {
  const textOf = (name: RequestMember) => readText(body, texts.get(name));
  const model = textOf('model');
  if (model === null || model === '')
    return invalid("'model' is missing; name the model to call in a field of the form.", 'model');
  const stream = textOf('stream') ?? 'false';
  if (!/^(true|false)$/i.test(stream)) return invalid("'stream' must be true or false.", 'stream');
  const n = textOf('n');
  const choices = n === null ? null : /^\d{1,10}$/.test(n) ? Number(n) : 0;
  if (choices !== null && (choices < 1 || choices > outputTokensMax))
    return invalid(`'n' must be a whole number from 1 to ${outputTokensMax}, or be left out.`, 'n');
  const prompt = texts.get('prompt');
  return succeed({
    model,
    stream: stream.toLowerCase() === 'true',
    choices,
    promptBytes: prompt === undefined ? 0 : prompt.end - prompt.start,
    pictures,
    terms: { ...noTerms, size: termWord(textOf('size')), quality: termWord(textOf('quality')) },
  });
}

/** Null when absent, too long to be one, or not valid UTF-8. */
function readText(body: Uint8Array, part: FormPart | undefined): string | null {
  if (part === undefined || part.end - part.start > valueBytesMax) return null;
  return decodeText(body, part.start, part.end);
}

/** The members of an object that are looked for; the megabytes beside them are stepped over. */
export class Members<Name extends string> {
  readonly #bytes: Uint8Array;
  readonly #spans: ReadonlyMap<Name, TextSpan>;

  constructor(bytes: Uint8Array, spans: ReadonlyMap<Name, TextSpan>) {
    this.#bytes = bytes;
    this.#spans = spans;
  }

  start(name: Name): number | null {
    return this.#spans.get(name)?.start ?? null;
  }

  /** The parsed value; null when absent, undefined when it is not valid JSON. For short values. */
  value(name: Name): unknown {
    const span = this.#spans.get(name);
    return span === undefined ? null : decodeJson(this.#bytes, span.start, span.end);
  }

  /** The member is a string with something in it, however long. */
  isText(name: Name): boolean {
    const span = this.#spans.get(name);
    return span !== undefined && this.#bytes[span.start] === 0x22 && span.end - span.start > 2;
  }
}

/** Reads the object at hand to its end; null when there is none. Of a member given twice the last one counts. */
export function readMembers<Name extends string>(
  reader: JsonReader,
  names: KeyNames<Name>,
): Members<Name> | null {
  const spans = new Map<Name, TextSpan>();
  if (!reader.enterObject()) return null;
  while (reader.nextMember()) {
    const { bytes, keyStart, keyEnd, at: start } = reader;
    const name = names.findDecoded(bytes, keyStart, keyEnd);
    const end = reader.skip();
    if (name !== null) spans.set(name, { start, end });
  }
  return reader.failure === null ? new Members(reader.bytes, spans) : null;
}

/** Stands in a provider's path for what is to be done; a path without it only generates. */
const operationPlaceholder = '{operation}';

/** The caller's bytes for one target, a form as it came: changed only where its alias needs it. */
export function passThrough(
  request: ReadRequest,
  operation: ImageOperation,
  target: PassthroughTarget,
): EncodedRequest {
  const { body, contentType } = request;
  const path = target.path.replace(operationPlaceholder, operation);
  const edits = [...request.modelEdits(target.upstreamModel), ...(target.edits ?? [])];
  return editedRequest(path, body, edits, [], contentType);
}

/** Why a target cannot be asked for this; null when it can. */
export function refusePath(operation: ImageOperation, path: string): Fault | null {
  if (operation === 'generations' || path.includes(operationPlaceholder)) return null;
  return fault('invalid_request', { message: 'No channel of this model edits images.', param: 'model' });
}
