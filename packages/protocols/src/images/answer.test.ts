import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { noUsage } from '../usage.ts';
import { images } from './index.ts';
import { addImageUsage, readUsage } from './meter.ts';

const encoder = new TextEncoder();
const read = (body: unknown) =>
  images.readAnswer(encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)), defaultDialect);

function readingOf(body: unknown) {
  const answer = read(body);
  if (answer.kind === 'refusal') throw new Error(answer.refusal.message);
  return answer.reading;
}

const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 2_112,
  output_tokens_details: { image_tokens: 2_112, text_tokens: 0 },
  total_tokens: 2_162,
};

describe('a whole answer', () => {
  test('is read', () => {
    const body = {
      created: 1,
      size: '1024x1024',
      quality: 'medium',
      data: [{ b64_json: 'aGk=' }, { b64_json: 'eW8=', revised_prompt: 'x' }],
      usage,
    };
    expect(readingOf(body)).toMatchObject({
      usage: { ...noUsage, inputFresh: 10, inputImage: 40, outputImage: 2_112, images: 2 },
      images: { finished: 2, drafts: 0 },
      terms: { size: '1024x1024', quality: 'medium' },
      hasOutput: true,
    });
  });

  test('without usage has its images counted', () => {
    const { usage: tokens, images: pieces } = readingOf({ created: 1, data: [{ url: 'https://x/y.png' }] });
    expect(tokens).toBeNull();
    expect(pieces).toEqual({ finished: 1, drafts: 0 });
  });

  test('without a picture has no output', () => {
    expect(readingOf({ data: [{ b64_json: '' }, {}, null, 'x'] }).hasOutput).toBe(false);
    expect(readingOf({ data: [] }).hasOutput).toBe(false);
  });

  test.each([
    [{ error: { message: 'no', code: 'moderation_blocked' } }, 'content-policy'],
    [{ data: null, error: { message: 'Overloaded', type: 'overloaded_error' } }, 'overloaded'],
    ['<html>', 'garbled'],
    ['{"data":[{"b64_json":"aGk="}', 'garbled'],
    ['{"data":[]} x', 'garbled'],
    ['', 'garbled'],
  ])('%j is a refusal: %s', (body, kind) => {
    expect(read(body)).toMatchObject({ kind: 'refusal', refusal: { kind } });
  });
});

describe('a refusal', () => {
  test.each([
    [400, { code: 'moderation_blocked', type: 'image_generation_user_error' }, 'content-policy'],
    [400, { code: 'content_policy_violation', type: 'image_generation_user_error' }, 'content-policy'],
    [400, { code: 'content_filter' }, 'content-policy'],
    [400, { code: 'invalid_image_file', type: 'invalid_request_error' }, 'invalid-request'],
    [400, { code: 'billing_hard_limit_reached', type: 'image_generation_user_error' }, 'credential'],
    [400, { code: 'unknown_parameter', param: 'response_format' }, 'invalid-request'],
    [429, { code: 'rate_limit_exceeded' }, 'rate-limited'],
  ])('%i %j is %s', (status, error, kind) => {
    const body = encoder.encode(JSON.stringify({ error: { message: 'Words.', ...error } }));
    expect(images.readRefusal(status, body)).toMatchObject({ kind, status });
  });

  test('of an organisation that is not verified is the trouble of the channel', () => {
    const message = 'Your organization must be verified to use the model `gpt-image-1`.';
    const body = encoder.encode(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
    expect(images.readRefusal(403, body).kind).toBe('credential');
  });
});

describe('usage', () => {
  test.each([
    [
      { input_tokens: 9, output_tokens: 272 },
      { inputFresh: 9, outputImage: 272 },
    ],
    [{ output_tokens: 272 }, { outputImage: 272 }],
    [
      { input_tokens: 9, output_tokens: 300, output_tokens_details: { image_tokens: 272, text_tokens: 28 } },
      { inputFresh: 9, output: 28, outputImage: 272 },
    ],
    [
      { input_tokens: 9, output_tokens: 300, output_tokens_details: { image_tokens: 272 } },
      { inputFresh: 9, output: 28, outputImage: 272 },
    ],
    [
      { input_tokens: 9, input_tokens_details: { image_tokens: 20 }, output_tokens: 1 },
      { inputImage: 9, outputImage: 1 },
    ],
  ])('%j', (wire, parts) => {
    expect(readUsage(wire)).toEqual({ ...noUsage, ...parts });
  });

  test.each([null, {}, { input_tokens: '9' }, 7])('%j reports nothing', (wire) => {
    expect(readUsage(wire)).toBeNull();
  });

  test('of several images adds up but for the prompt, which is read once', () => {
    const one = readUsage({ input_tokens: 9, output_tokens: 100 });
    expect(addImageUsage(addImageUsage(null, one), one)).toEqual({
      ...noUsage,
      inputFresh: 9,
      outputImage: 200,
    });
    expect(addImageUsage(one, null)).toBe(one);
  });
});
