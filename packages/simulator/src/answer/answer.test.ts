import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../command/command.ts';
import type { Answer } from './answer.ts';
import { composeAnswer, tokensInTurn } from './answer.ts';
import type { Ask } from './ask.ts';
import { countWords } from './ask.ts';
import { jsonPieces, wordPieces } from './pieces.ts';

const plainAsk: Ask = {
  model: 'm',
  stream: false,
  wantsUsage: false,
  promptTokens: 12,
  lastText: 'hello',
  answersTool: false,
  toolResults: 0,
  tools: [],
  toolChoice: { kind: 'auto' },
  parallelCalls: true,
  schema: null,
  maxTokens: null,
  choices: 1,
};

function compose(ask: Partial<Ask>, text = ''): Answer {
  const read = readCommand(text);
  if (!read.ok) throw new Error(read.problem);
  return composeAnswer({ ...plainAsk, ...ask }, read.command);
}

const small = fc.nat({ max: 200 });

describe('usage', () => {
  test('completion is the tokens of all choices and the hidden reasoning', () => {
    fc.assert(
      fc.property(
        small,
        small,
        small,
        fc.integer({ min: 1, max: 4 }),
        (tokens, reasoning, hidden, choices) => {
          const command = `tokens=${tokens},reasoning=${reasoning},hidden-reasoning=${hidden}`;
          const { usage } = compose({ choices }, command);
          expect(usage.completion).toBe((tokens + reasoning + hidden) * choices);
          expect(usage.reasoning).toBe((reasoning + hidden) * choices);
        },
      ),
    );
  });

  test('a limit holds for each choice, and is reached before the finish is `length`', () => {
    fc.assert(
      fc.property(small, small, small, (tokens, hidden, maxTokens) => {
        const answer = compose({ maxTokens }, `tokens=${tokens},hidden-reasoning=${hidden}`);
        const wanted = tokens + hidden;
        expect(answer.usage.completion).toBe(Math.min(wanted, maxTokens));
        if (tokens > 0) expect(answer.choices[0]?.finish).toBe(wanted > maxTokens ? 'length' : 'stop');
      }),
    );
  });

  test('cache parts never exceed the prompt', () => {
    fc.assert(
      fc.property(small, small, small, (prompt, cached, written) => {
        const { usage } = compose(
          {},
          `prompt=${prompt},cached=${cached},cache-write=${written},cache-write-1h=${written}`,
        );
        expect(usage.cached + usage.cacheWrite + usage.cacheWrite1h).toBeLessThanOrEqual(usage.prompt);
        expect(usage.prompt).toBe(prompt);
      }),
    );
  });
});

test('choices take turns in the stream and none of their tokens is lost', () => {
  const answer = compose({ choices: 3 });
  const taken = Array.from(tokensInTurn(answer));
  expect(taken.slice(0, 4).map(({ choice }) => choice)).toEqual([0, 1, 2, 0]);
  expect(taken).toHaveLength(answer.usage.completion);
});

test('a long prompt is quoted in part', () => {
  const answer = compose({ lastText: 'word '.repeat(200_000) });
  expect(answer.usage.completion).toBeLessThan(100);
});

describe('pieces', () => {
  test('of words join to the text and are as many as its words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const pieces = wordPieces(text);
        expect(pieces.join('')).toBe(text.trimEnd());
        expect(countWords(text)).toBe(pieces.length);
      }),
    );
  });

  test('of JSON join to the text and tear no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(jsonPieces(text).join('')).toBe(text);
        expect(jsonPieces(text).every((piece) => piece.isWellFormed())).toBe(true);
      }),
    );
  });
});
