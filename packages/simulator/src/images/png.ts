import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';
import type { ImageAsk } from '../answer/ask.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A PNG of one colour in the size asked for, a few hundred bytes whatever its size: one bit per pixel and a palette
 * of one entry (PNG specification, 4.3 and 11.2). `colour` is 24 bits of red, green and blue.
 */
export function encodePng(image: ImageAsk, colour: number): Uint8Array {
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
