import { describe, expect, test } from 'vitest';
import { SseSplitter } from '../bytes/sse.ts';
import { fault } from '../error.ts';
import type { FrameRole } from '../protocol.ts';
import { defaultDialect } from '../request.ts';
import { noUsage } from '../usage.ts';
import { images } from './index.ts';

const encoder = new TextEncoder();

const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const draft = (index: number) =>
  event('image_generation.partial_image', { b64_json: 'aGk=', partial_image_index: index, quality: 'low' });
const image = (output = 100) =>
  event('image_generation.completed', {
    b64_json: 'eW8=',
    size: '1024x1024',
    quality: 'high',
    usage: { input_tokens: 9, output_tokens: output },
  });

function read(chunks: readonly Uint8Array[], choices = 1) {
  const reader = images.openStream(defaultDialect, 'sse', choices);
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (const chunk of chunks) splitter.push(chunk, (frame) => roles.push(reader.read(frame)));
  const { usage, hasOutput, images: pieces } = reader.reading;
  return { roles: roles.map((role) => role[0]).join(''), usage, hasOutput, pieces, reader };
}

const readFrames = (frames: readonly string[], choices = 1) =>
  read([encoder.encode(frames.join(''))], choices);

describe('a stream', () => {
  test('shows drafts and ends with its image', () => {
    const { roles, usage, pieces, reader } = readFrames([': hello\n\n', draft(0), draft(1), image()]);
    expect(roles).toBe('lcct');
    expect(usage).toEqual({ ...noUsage, inputFresh: 9, outputImage: 100, images: 1 });
    expect(pieces).toEqual({ finished: 1, drafts: 0 });
    expect(reader.reading.terms).toMatchObject({ size: '1024x1024', quality: 'high' });
  });

  test('of several images ends with the last of them', () => {
    const { roles, usage } = readFrames([draft(0), image(100), draft(0), image(200), image(300)], 3);
    expect(roles).toBe('cccct');
    expect(usage).toEqual({ ...noUsage, inputFresh: 9, outputImage: 600, images: 3 });
  });

  test('survives any chunking', () => {
    const frames = [draft(0), image(), draft(0), image()];
    for (const text of [frames.join(''), frames.join('').replaceAll('\n', '\r\n')]) {
      const bytes = encoder.encode(text);
      const { reader: _, ...expected } = read([bytes], 2);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const { reader: __, ...seen } = read([bytes.slice(0, cut), bytes.slice(cut)], 2);
        expect(seen).toEqual(expected);
      }
    }
  });

  test('with fewer images than asked for is whole when the connection ends cleanly', () => {
    expect(readFrames([draft(0), image()], 2).reader.isWholeWithoutTerminal()).toBe(true);
    expect(readFrames([image(), draft(0)], 2).reader.isWholeWithoutTerminal()).toBe(false);
    expect(readFrames([draft(0)], 1).reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('that breaks off counts the drafts of the image that never came', () => {
    const { usage, hasOutput, pieces } = readFrames([draft(0), draft(1)]);
    expect({ usage, hasOutput, pieces }).toMatchObject({
      usage: null,
      hasOutput: true,
      pieces: { finished: 0, drafts: 2 },
    });
  });

  test('of edits has events of its own, and unknown events pass', () => {
    const frames = [draft(0), event('image_generation.queued'), image()];
    const edits = frames.map((frame) => frame.replaceAll('image_generation.', 'image_edit.'));
    expect(readFrames(edits).roles).toBe('cpt');
  });

  test('whose end comes apart, as some servers do, is read all the same', () => {
    const succeeded = event('image_generation.partial_succeeded', {
      url: 'https://x/y.png',
      size: '512x512',
    });
    const completed = event('image_generation.completed', { usage: { output_tokens: 7 } });
    const { roles, usage } = readFrames([succeeded, succeeded, completed], 2);
    expect(roles).toBe('cct');
    expect(usage).toMatchObject({ outputImage: 7, images: 2 });
    expect(readFrames([succeeded, 'data: [DONE]\n\n']).roles).toBe('ct');
  });

  test.each([
    'data: {"type":"image_generation.completed",\ndata: "b64_json":"eW8="}\n\n',
    'event: image_generation.completed\ndata: {"b64_json":"eW8="}\n\n',
    'data: {"type":"image_generation.completed","b64_json":"eW8="}\nevent: image_generation.completed\n\n',
  ])('is read however its frame is written: %j', (frame) => {
    expect(readFrames([frame])).toMatchObject({ roles: 't', pieces: { finished: 1 } });
  });
});

describe('failures in a stream', () => {
  test.each([
    [event('error', { error: { message: 'words', code: 'moderation_blocked' } }), 'e', 'content-policy'],
    [
      'data: {"error":{"message":"The engine is overloaded","type":"overloaded_error"}}\n\n',
      'e',
      'overloaded',
    ],
    ['data: {"choices":[]}\n\n', 'g', 'garbled'],
    ['data: {"type":"image_gen\n\n', 'g', 'garbled'],
    ['<html>no</html>\n\n', 'g', 'garbled'],
  ])('%s', (frame, role, kind) => {
    const { roles, reader } = readFrames([draft(0), frame]);
    expect(roles).toBe(`c${role}`);
    expect(reader.refusal?.kind).toBe(kind);
    expect(reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('an error of ours is an event in the shape of the others', () => {
    const text = new TextDecoder().decode(images.encodeStreamError(fault('upstream_error'), 'trace', 'sse'));
    const [, data = ''] = /^event: error\ndata: (.*)\n\n$/.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      type: 'error',
      error: { code: 'upstream_error', trace_id: 'trace' },
    });
  });
});
