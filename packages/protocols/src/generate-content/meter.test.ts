import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noUsage, totalInput, totalOutput } from '../usage.ts';
import { readUsage } from './meter.ts';

const text = (tokenCount: number) => ({ modality: 'TEXT', tokenCount });
const image = (tokenCount: number) => ({ modality: 'IMAGE', tokenCount });
const audio = (tokenCount: number) => ({ modality: 'AUDIO', tokenCount });

test.each<readonly [string, object, object]>([
  [
    'a prompt and an answer',
    { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
    { inputFresh: 5, output: 7 },
  ],
  [
    'thoughts beside the candidates',
    { promptTokenCount: 5, candidatesTokenCount: 7, thoughtsTokenCount: 4, totalTokenCount: 16 },
    { inputFresh: 5, output: 11, outputReasoning: 4 },
  ],
  [
    'thoughts and no answer',
    { promptTokenCount: 5, thoughtsTokenCount: 4, totalTokenCount: 9 },
    { inputFresh: 5, output: 4, outputReasoning: 4 },
  ],
  [
    'a cache within the prompt',
    { promptTokenCount: 100, cachedContentTokenCount: 80, candidatesTokenCount: 1 },
    { inputFresh: 20, inputCacheRead: 80, output: 1 },
  ],
  [
    'what tools put in, beside the prompt',
    { promptTokenCount: 10, toolUsePromptTokenCount: 30, candidatesTokenCount: 1, totalTokenCount: 41 },
    { inputFresh: 40, output: 1 },
  ],
  [
    'pictures and sounds in the prompt, films and documents as text',
    {
      promptTokenCount: 1000,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        text(10),
        image(258),
        audio(32),
        { modality: 'VIDEO', tokenCount: 600 },
        { modality: 'DOCUMENT', tokenCount: 100 },
      ],
    },
    { inputFresh: 710, inputImage: 258, inputAudio: 32, output: 1 },
  ],
  [
    'a cached sound, once',
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 1,
      promptTokensDetails: [text(50), audio(50)],
      cacheTokensDetails: [text(20), audio(40)],
    },
    { inputFresh: 30, inputCacheRead: 60, inputAudio: 10, output: 1 },
  ],
  [
    'a picture and a sound in the answer',
    {
      promptTokenCount: 5,
      candidatesTokenCount: 1300,
      thoughtsTokenCount: 7,
      candidatesTokensDetails: [image(1290), audio(4)],
    },
    { inputFresh: 5, output: 13, outputReasoning: 7, outputImage: 1290, outputAudio: 4 },
  ],
  [
    'an answer that only the total counts',
    { promptTokenCount: 5, totalTokenCount: 9 },
    { inputFresh: 5, output: 4 },
  ],
  [
    'details larger than what they are of',
    {
      promptTokenCount: 5,
      candidatesTokenCount: 2,
      promptTokensDetails: [image(9)],
      candidatesTokensDetails: [image(9)],
    },
    { inputImage: 5, outputImage: 2 },
  ],
])('%s', (_, wire, parts) => {
  expect(readUsage(wire)).toEqual({ ...noUsage, ...parts });
});

test.each([[undefined], [null], [7], [{}], [{ trafficType: 'ON_DEMAND' }], [{ promptTokenCount: '5' }]])(
  '%j is no usage',
  (wire) => {
    expect(readUsage(wire)).toBeNull();
  },
);

test('the parts add up to the total, whatever the details say', () => {
  const count = fc.nat(10_000);
  const details = fc.array(
    fc.record({ modality: fc.constantFrom('TEXT', 'IMAGE', 'AUDIO', 'VIDEO'), tokenCount: count }),
  );
  fc.assert(
    fc.property(
      count,
      count,
      count,
      count,
      count,
      details,
      details,
      (prompt, cached, tools, candidates, thoughts, a, b) => {
        const used = readUsage({
          promptTokenCount: prompt,
          cachedContentTokenCount: cached,
          toolUsePromptTokenCount: tools,
          candidatesTokenCount: candidates,
          thoughtsTokenCount: thoughts,
          promptTokensDetails: a,
          cacheTokensDetails: b,
          candidatesTokensDetails: b,
        });
        expect(used === null ? null : [totalInput(used), totalOutput(used)]).toEqual([
          prompt + tools,
          candidates + thoughts,
        ]);
      },
    ),
  );
});
