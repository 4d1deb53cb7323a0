import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCommand, readSteps } from '../command/command.ts';
import { type Answer, composeAnswer, tokensInTurn } from './answer.ts';
import { type Ask, countWords } from './ask.ts';
import { jsonPieces, wordPieces } from './prose.ts';
import { sampleOf } from './sample.ts';

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

test.each([
  [{ const: 3 }, 3],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ type: 'string', default: 'x' }, 'x'],
  [{ type: ['null', 'string'] }, null],
  [{ type: 'string', minLength: 16 }, 'sample value....'],
  [{ type: 'string', maxLength: 3 }, 'sam'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: 'integer', exclusiveMinimum: 4 }, 5],
  [{ type: 'integer', maximum: 0 }, 0],
  [{ type: 'number', minimum: 1.5 }, 1.5],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  [{ properties: { city: {} } }, { city: 'sample city' }],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [
    { allOf: [{ properties: { a: { const: 1 } } }], properties: { b: { const: 2 } } },
    { a: 1, b: 2 },
  ],
  [{ $ref: '#/$defs/flag', $defs: { flag: { type: 'boolean' } } }, true],
  [{ type: 'object' }, {}],
  [true, 'sample value'],
])('%j is answered by %j', (schema, sample) => {
  expect(sampleOf(schema)).toEqual(sample);
});

test('a schema that contains itself comes to an end', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } } };
  expect(JSON.stringify(sampleOf(node))).toMatch(/^(\{"next":)+null\}+$/);
});

const script = [
  { tool: 'read', input: { path: 'a b, c' } },
  [
    { tool: 'read', input: {} },
    { tool: 'edit', input: '*** as it is' },
  ],
  'All done.',
];

const ask: Ask = {
  model: 'm',
  stream: false,
  wantsUsage: false,
  promptTokens: 1,
  lastText: 'hello',
  answersTool: false,
  toolResults: 0,
  tools: [
    { kind: 'custom', name: 'edit', schema: {} },
    { kind: 'function', name: 'read', schema: { type: 'object' } },
  ],
  toolChoice: { kind: 'auto' },
  parallelCalls: true,
  schema: null,
  maxTokens: null,
  choices: 1,
};

/** The words and calls of an answer, each call as `name(input)`. */
function told(asked: Partial<Ask>, words = ''): string {
  const read = readCommand(`steps=${encodeURIComponent(JSON.stringify(script))}`, words);
  if (!read.ok) throw new Error(read.problem);
  const [choice] = composeAnswer({ ...ask, ...asked }, read.command).choices;
  const text = choice?.tokens.map((token) => (token.kind === 'call' ? ` ${token.tool.name}:` : token.text));
  return `${choice?.finish} ${text?.join('')}`;
}

test.each([
  [0, 'tool-calls  read:{"path":"a b, c"}'],
  [1, 'tool-calls  read:{} edit:*** as it is'],
  // One of two results: the step is not over.
  [2, 'tool-calls  read:{} edit:*** as it is'],
  [3, 'stop All done.'],
  [9, 'stop All done.'],
])('after %i results of tools the script goes on where it was', (toolResults, expected) => {
  expect(told({ toolResults, answersTool: toolResults > 0 })).toBe(expected);
});

test('a request that does not offer the tool is answered in its own words', () => {
  expect(told({ tools: [] })).toContain('stop This is a simulated answer');
});

test('a refusal and reasoning are told beside a script', () => {
  expect(told({}, 'refusal')).toContain('simulated refusal');
  expect(told({ toolResults: 3 }, 'reasoning=2')).toBe('stop This isAll done.');
});

test.each([
  '',
  'read',
  '{}',
  '[1]',
  '[[]]',
  '[{"tool":"a"}]',
  '[{"input":{}}]',
  '["a",[{"tool":1,"input":{}}]]',
])('%s is no script', (text) => {
  expect(readSteps(text)).toBeUndefined();
});
