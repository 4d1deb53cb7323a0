import type { Ask, ImageAsk, ImageQuality } from '../answer/ask.ts';
import { countWords, tokensPerOtherPart } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { countOf, isRecord, stringOf } from '../json.ts';
import { type AskResult, badRequest, type Complaint, missing } from '../protocol.ts';

/** The work a path asks for; null when it is not of this protocol. */
export function readOperation(path: string): ImageAsk['operation'] | null {
  switch (path) {
    case '/v1/images/generations':
      return 'generation';
    case '/v1/images/edits':
      return 'edit';
    default:
      return null;
  }
}

/** Reads a request of either operation. In a form every value is text, so numbers and truths are read from it too. */
export function readAsk(model: string, body: JsonRecord, path: string): AskResult {
  const operation = readOperation(path) ?? 'generation';
  const prompt = stringOf(body['prompt']);
  if (prompt === null) return refused(missing('prompt'));
  const sources = operation === 'edit' ? sourcesOf(body) : [];
  if (operation === 'edit' && sources.length === 0) return refused(missing('image'));
  const size = readSize(body['size']);
  if (size === null) return invalid('size');
  const choices = body['n'] === undefined || body['n'] === null ? 1 : countIn(body['n']);
  if (choices === null || choices < 1 || choices > imagesMax) return invalid('n');
  const promptImageTokens = (sources.length + listOfOne(body['mask']).length) * tokensPerOtherPart;
  const image: ImageAsk = { operation, ...size, ...readLook(body), promptImageTokens };
  const ask: Ask = {
    ...withoutTools,
    model,
    stream: body['stream'] === true || body['stream'] === 'true',
    promptTokens: countWords(prompt) + promptImageTokens,
    lastText: prompt,
    choices,
    image,
  };
  return { ok: true, ask };
}

const imagesMax = 10;

const withoutTools = {
  wantsUsage: true,
  answersTool: false,
  toolResults: 0,
  tools: [],
  toolChoice: { kind: 'none' },
  parallelCalls: false,
  schema: null,
  maxTokens: null,
} as const;

/** The images to edit: `image` of a form, once or often, or `images` of JSON. */
function sourcesOf(body: JsonRecord): readonly unknown[] {
  return [...listOfOne(body['image']), ...listOfOne(body['images'])];
}

function listOfOne(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? [value] : [];
}

function readLook(body: JsonRecord) {
  return {
    quality: readQuality(body['quality']),
    background: body['background'] === 'transparent' ? 'transparent' : 'opaque',
    outputFormat: stringOf(body['output_format']) ?? 'png',
    form: body['response_format'] === 'url' ? 'url' : 'b64_json',
    partialImages: countIn(body['partial_images']) ?? 0,
  } as const;
}

function readQuality(value: unknown): ImageQuality {
  switch (value) {
    case 'medium':
      return 'medium';
    case 'high':
    case 'hd':
      return 'high';
    default:
      return 'low';
  }
}

const sidePixelsMax = 4_096;

/** `auto`, null or nothing is 1024x1024. */
function readSize(value: unknown): Pick<ImageAsk, 'widthPixels' | 'heightPixels'> | null {
  const text = stringOf(value ?? 'auto') ?? '';
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text === 'auto' ? '1024x1024' : text) ?? [];
  const size = { widthPixels: Number(width), heightPixels: Number(height) };
  const isFit = [size.widthPixels, size.heightPixels].every((side) => side > 0 && side <= sidePixelsMax);
  return isFit ? size : null;
}

function countIn(value: unknown): number | null {
  return countOf(typeof value === 'string' && value !== '' ? Number(value) : value);
}

function refused(complaint: Complaint): AskResult {
  return { ok: false, complaint };
}

function invalid(param: string): AskResult {
  return refused(badRequest('invalid_value', param, null));
}
