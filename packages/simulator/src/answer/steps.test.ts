import { expect, test } from 'vitest';
import { readCommand } from '../command/command.ts';
import { readSteps } from '../command/steps.ts';
import { composeAnswer } from './answer.ts';
import type { Ask } from './ask.ts';

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

/** What an answer says and calls, each call as `name(input)`. */
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
