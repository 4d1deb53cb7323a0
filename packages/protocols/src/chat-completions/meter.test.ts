import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { noUsage, totalInput, totalOutput } from '../usage.ts';
import { readUsage } from './meter.ts';

const outside = { ...defaultDialect, reasoningOutsideCompletion: true };

describe('readUsage', () => {
  test('takes the prompt and the completion apart without overlap', () => {
    const wire = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: {
        cached_tokens: 40,
        cache_write_tokens: 10,
        audio_tokens: 5,
        image_tokens: 15,
        text_tokens: 80,
      },
      completion_tokens_details: {
        reasoning_tokens: 20,
        audio_tokens: 6,
        image_tokens: 4,
        rejected_prediction_tokens: 3,
      },
    };
    expect(readUsage(wire, defaultDialect)).toEqual({
      ...noUsage,
      inputFresh: 30,
      inputCacheRead: 40,
      inputCacheWrite5m: 10,
      inputAudio: 5,
      inputImage: 15,
      output: 40,
      outputReasoning: 20,
      outputAudio: 6,
      outputImage: 4,
    });
  });

  test.each([
    [
      { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 4 },
      { inputFresh: 5, inputCacheRead: 4, output: 2 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: null },
      { inputFresh: 9, output: 2 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 5, reasoning_tokens: 3 },
      { inputFresh: 9, output: 5, outputReasoning: 3 },
    ],
    [
      { prompt_tokens: 9, total_tokens: 12 },
      { inputFresh: 9, output: 3 },
    ],
    [
      { completion_tokens: 9, total_tokens: 12 },
      { inputFresh: 3, output: 9 },
    ],
    [{ prompt_tokens: 9 }, { inputFresh: 9 }],
    [
      { prompt_tokens: -1, completion_tokens: 4, total_tokens: 10 },
      { inputFresh: 6, output: 4 },
    ],
    [
      { prompt_tokens: 9.4, completion_tokens: 1.5 },
      { inputFresh: 9, output: 2 },
    ],
    [{ prompt_tokens: 9, completion_tokens: 1e30 }, { inputFresh: 9 }],
    [
      { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 7 } },
      { inputCacheRead: 5, output: 2 },
    ],
    [
      { prompt_tokens: 5, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 9 } },
      { inputFresh: 5, output: 2, outputReasoning: 2 },
    ],
  ])('reads %j', (wire, parts) => {
    expect(readUsage(wire, defaultDialect)).toEqual({ ...noUsage, ...parts });
  });

  test.each([
    null,
    undefined,
    'x',
    7,
    [],
    {},
    { total_tokens: 5 },
    { prompt_tokens: 'a' },
    { prompt_tokens: -1 },
  ])('finds no usage in %j', (wire) => {
    expect(readUsage(wire, defaultDialect)).toBeNull();
  });

  test('adds reasoning where the upstream counts it outside the completion', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 290 } };
    const wire = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 303, ...details };
    expect(readUsage(wire, outside)).toMatchObject({ output: 291, outputReasoning: 290 });
    expect(readUsage(wire, defaultDialect)).toMatchObject({ output: 1, outputReasoning: 1 });
    const hidden = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 20 };
    expect(readUsage(hidden, outside)).toMatchObject({ output: 8, outputReasoning: 7 });
  });

  test('never makes up tokens, whatever the upstream says', () => {
    const number = fc.oneof(
      fc.nat(5_000),
      fc.double(),
      fc.constantFrom<unknown>(null, undefined, 'x', -5, Number.NaN, 1e300, {}),
    );
    const record = (...names: string[]) =>
      fc.record(Object.fromEntries(names.map((name) => [name, number])), { requiredKeys: [] });
    const wire = fc
      .tuple(
        record(
          'prompt_tokens',
          'completion_tokens',
          'total_tokens',
          'prompt_cache_hit_tokens',
          'reasoning_tokens',
        ),
        fc.option(record('cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens')),
        fc.option(record('reasoning_tokens', 'audio_tokens', 'image_tokens')),
      )
      .map(([counts, input, output]) => ({
        counts,
        wire: { ...counts, prompt_tokens_details: input, completion_tokens_details: output },
      }));
    fc.assert(
      fc.property(wire, fc.constantFrom(defaultDialect, outside), (usage, dialect) => {
        const read = readUsage(usage.wire, dialect);
        if (read === null) return;
        for (const part of Object.values(read)) expect(Number.isSafeInteger(part) && part >= 0).toBe(true);
        expect(read.outputReasoning).toBeLessThanOrEqual(read.output);
        const prompt = usage.counts['prompt_tokens'];
        if (typeof prompt === 'number' && prompt >= 0 && prompt <= 1e9)
          expect(totalInput(read)).toBe(Math.abs(Math.round(prompt)));
        const completion = usage.counts['completion_tokens'];
        if (
          dialect === defaultDialect &&
          typeof completion === 'number' &&
          completion >= 0 &&
          completion <= 1e9
        ) {
          expect(totalOutput(read)).toBe(Math.abs(Math.round(completion)));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
