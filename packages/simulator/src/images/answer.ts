import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';
import type { ImageAsk } from '../answer/ask.ts';
import type { Rendering } from '../protocol.ts';
import { type Frame, type FrameRole, frame } from '../timeline.ts';

/** The whole answer as one JSON object. Zero tokens are no image. */
export function answerBody(rendering: Rendering): string {
  const { ask, answer, command, stamp } = rendering;
  const image = imageAskOf(rendering);
  const { prompt, completion } = answer.usage;
  const count = completion === 0 ? 0 : ask.choices;
  return JSON.stringify({
    created: stamp.createdS,
    ...lookOf(image),
    data: Array.from({ length: count }, (_, choice) => encodeImage(rendering, choice)),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(image, prompt, completion) }),
  });
}

function encodeImage(rendering: Rendering, choice: number): object {
  const { ask, stamp } = rendering;
  if (imageAskOf(rendering).form === 'b64_json') return { b64_json: pictureOf(rendering, choice, 0) };
  // Nothing listens there: the answer is what is tested, and the image itself is in the other form.
  const url = `https://images.simulator.invalid/sim${stamp.sequence}/${choice}.png`;
  return { url, revised_prompt: ask.lastText };
}

/** The stream: each image's drafts and then the image; the last image ends it. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  const { partialImages } = imageAskOf(rendering);
  const { choices } = rendering.ask;
  for (let choice = 0; choice < choices; choice++) {
    for (let draft = 0; draft < partialImages; draft++) {
      const b64_json = pictureOf(rendering, choice, draft + 1);
      yield event(rendering, 'content', 'partial_image', { b64_json, partial_image_index: draft });
    }
    const role = choice === choices - 1 ? 'terminal' : 'content';
    yield event(rendering, role, 'completed', completed(rendering, choice));
  }
}

/** States the whole prompt and the output of its own image only, so that outputs add up to those of a JSON answer. */
function completed(rendering: Rendering, choice: number): object {
  const { ask, answer, command } = rendering;
  const { prompt, completion } = answer.usage;
  const b64_json = completion === 0 ? '' : pictureOf(rendering, choice, 0);
  if (command.usage === 'never') return { b64_json };
  return { b64_json, usage: encodeUsage(imageAskOf(rendering), prompt, completion / ask.choices) };
}

function event(rendering: Rendering, role: FrameRole, name: string, members: object): Frame {
  const image = imageAskOf(rendering);
  const type = `image_${image.operation}.${name}`;
  const data = { type, created_at: rendering.stamp.createdS, ...lookOf(image), ...members };
  return frame(role, `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The usage object with every member the protocol has. `input` includes the tokens of the images sent. */
function encodeUsage({ promptImageTokens }: ImageAsk, input: number, output: number) {
  const inputImages = Math.min(promptImageTokens, input);
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - inputImages, image_tokens: inputImages },
    output_tokens: output,
    output_tokens_details: { image_tokens: output, text_tokens: 0 },
    total_tokens: input + output,
  };
}

/** The ask of this protocol's own requests, which `readAsk` never leaves out. */
function imageAskOf({ ask }: Rendering): ImageAsk {
  if (ask.image === undefined) throw new Error('images was asked for a text');
  return ask.image;
}

/** How the images look, as the members that say so in an answer and in every event. */
function lookOf(image: ImageAsk) {
  return {
    size: `${image.widthPixels}x${image.heightPixels}`,
    quality: image.quality,
    background: image.background,
    output_format: image.outputFormat,
  };
}

/** One image in base64: a plane of a colour that follows from the prompt, the image's number and its draft's. */
function pictureOf(rendering: Rendering, choice: number, draft: number): string {
  const image = imageAskOf(rendering);
  const colour = hashOf(`${rendering.ask.model} ${rendering.ask.lastText} ${choice} ${draft}`);
  return Buffer.from(encodePng(image, colour)).toString('base64');
}

/** FNV-1a, 32 bits: any spread of colours will do, as long as it is the same every time. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A PNG of one colour in the size asked for, a few hundred bytes whatever its size: one bit per pixel and a palette
 * of one entry (PNG specification, 4.3 and 11.2). `colour` is 24 bits of red, green and blue.
 */
function encodePng(image: ImageAsk, colour: number): Uint8Array {
  const { widthPixels, heightPixels, background } = image;
  const palette = Buffer.from([(colour >>> 16) & 0xff, (colour >>> 8) & 0xff, colour & 0xff]);
  // A line is its filter's number, 0, and its pixels, all of them entry 0 of the palette.
  const lineBytes = 1 + Math.ceil(widthPixels / 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header(widthPixels, heightPixels)),
    chunk('PLTE', palette),
    ...(background === 'transparent' ? [chunk('tRNS', Buffer.from([0]))] : []),
    chunk('IDAT', deflateSync(Buffer.alloc(lineBytes * heightPixels))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const bitDepth = 1;
const indexedColour = 3;

function header(widthPixels: number, heightPixels: number): Buffer {
  const bytes = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bitDepth, indexedColour, 0, 0, 0]);
  bytes.writeUInt32BE(widthPixels, 0);
  bytes.writeUInt32BE(heightPixels, 4);
  return bytes;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const bytes = Buffer.alloc(typed.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  bytes.set(typed, 4);
  bytes.writeUInt32BE(crc32(typed), typed.length + 4);
  return bytes;
}
