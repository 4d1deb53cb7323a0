import { decodeText, type FormPart, formBoundary, readForm } from '../bytes/multipart.ts';
import type { Fault } from '../error.ts';
import { kindWord } from '../image-kind.ts';
import { replace } from '../request/edits.ts';
import { outputTokensMax } from '../request/read-members.ts';
import { invalid } from '../request/request-members.ts';
import { type Result, succeed } from '../result.ts';
import { factsOf, type ReadRequest, type Wishes } from './facts.ts';
import { type RequestMember, requestMembers } from './wire.ts';

/** A value longer than this is none of those read as text. Bytes. */
const valueBytesMax = 1_024;

/** Reads `multipart/form-data`: texts for every scalar, files for the images (`image`, `image[]`, `image[0]`, `mask`). */
export function readFormRequest(body: Uint8Array, contentType: string): Result<ReadRequest, Fault> {
  const boundary = formBoundary(contentType);
  if (boundary === null)
    return invalid("A form must name its boundary: 'multipart/form-data; boundary=…'.", 'content-type');
  const form = readForm(body, boundary);
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
    modelEdits: (upstreamModel) =>
      part === undefined || upstreamModel === facts.model
        ? []
        : [replace('model', part.start, part.end, upstreamModel)],
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
    kind: { size: kindWord(textOf('size')), quality: kindWord(textOf('quality')) },
  });
}

/** Null when absent, too long to be one, or not valid UTF-8. */
function readText(body: Uint8Array, part: FormPart | undefined): string | null {
  if (part === undefined || part.end - part.start > valueBytesMax) return null;
  return decodeText(body, part.start, part.end);
}
