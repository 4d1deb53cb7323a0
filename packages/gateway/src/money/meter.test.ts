import { noUsage, type Reading } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { meter } from './meter.ts';

const estimates = { inputTokensEstimate: 50, outputTokensMax: null };
const nothing: Reading = {
  usage: null,
  finishReason: null,
  finishReasonRaw: null,
  modelServed: null,
  hasOutput: false,
  outputBytes: 0,
  usageAtOutputBytes: 0,
};
const counted = { ...noUsage, inputFresh: 9, outputImage: 200, images: 2 };

function imagesOf(finished: number, drafts: number, usage: Reading['usage'] = null): Reading {
  const hasOutput = finished + drafts > 0;
  return { ...nothing, usage, hasOutput, images: { finished, drafts } };
}

test('images whose upstream counted their tokens are as it says', () => {
  expect(meter(imagesOf(2, 0, counted), estimates)).toEqual({ usage: counted, source: 'upstream' });
});

test('images without usage are counted in pieces, and their tokens estimated', () => {
  expect(meter(imagesOf(2, 0), estimates)).toEqual({
    usage: { ...noUsage, inputFresh: 50, outputImage: 2_112, images: 2 },
    source: 'estimated',
  });
});

test('drafts of an image that never came are estimated, beside what was counted', () => {
  expect(meter(imagesOf(0, 3), estimates)).toEqual({
    usage: { ...noUsage, inputFresh: 50, outputImage: 300 },
    source: 'estimated',
  });
  expect(meter(imagesOf(2, 1, counted), estimates)).toEqual({
    usage: { ...counted, outputImage: 300 },
    source: 'estimated',
  });
});

test('no image and no usage are nothing', () => {
  expect(meter(imagesOf(0, 0), estimates)).toEqual({ usage: noUsage, source: 'none' });
});

test('no estimate is less than what was counted, whatever the caller allowed, and no thought is more than its output', () => {
  const usage = { ...noUsage, inputFresh: 9, output: 1_000, outputReasoning: 900 };
  const reading = { ...nothing, usage, hasOutput: true, outputBytes: 40, usageAtOutputBytes: 8 };
  const allowing = (outputTokensMax: number) =>
    meter(reading, { ...estimates, outputTokensMax }, 5_000).usage;
  expect(allowing(100)).toMatchObject({ output: 1_000, outputReasoning: 990 });
  expect(allowing(2_000)).toMatchObject({ output: 2_000, outputReasoning: 1_990 });
});
