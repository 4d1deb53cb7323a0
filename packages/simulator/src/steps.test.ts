import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from './simulator.ts';

const steps = [
  { tool: 'read', input: { path: 'a' } },
  [
    { tool: 'read', input: { path: 'b' } },
    { tool: 'read', input: { path: 'c' } },
  ],
  'All done.',
];
const model = `m+steps=${encodeURIComponent(JSON.stringify(steps))}`;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => simulator.close());

/** A request of each protocol after so many results of tools. */
const requests: Readonly<Record<string, (results: number) => readonly [path: string, body: object]>> = {
  'chat-completions': (results) => [
    '/v1/chat/completions',
    {
      model,
      messages: conversation(results, (id) => [
        {
          role: 'assistant',
          tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'found' },
      ]),
      tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
    },
  ],
  responses: (results) => [
    '/v1/responses',
    {
      model,
      input: conversation(results, (call_id) => [
        { type: 'function_call', call_id, name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id, output: 'found' },
      ]),
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object' }, strict: false }],
    },
  ],
  messages: (results) => [
    '/v1/messages',
    {
      model,
      max_tokens: 1000,
      messages: conversation(results, (id) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'found' }] },
      ]),
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
    },
  ],
};

function conversation(results: number, round: (id: string) => readonly object[]): readonly object[] {
  const rounds = Array.from({ length: results }, (_, index) => round(`call_${index}`));
  return [{ role: 'user', content: 'Look.' }, ...rounds.flat()];
}

test.each(Object.entries(requests))('%s goes through the steps of a script', async (_protocol, request) => {
  const answers = await Promise.all([0, 1, 3].map((results) => post(...request(results))));
  const [first = '', second = '', third = ''] = answers;
  expect(pathsIn(first)).toEqual(['a']);
  expect(pathsIn(second)).toEqual(['b', 'c']);
  expect(pathsIn(third)).toEqual([]);
  expect(third).toContain('"All done."');
});

async function post(path: string, body: object): Promise<string> {
  const response = await fetch(simulator.origin + path, { method: 'POST', body: JSON.stringify(body) });
  return response.text();
}

/** The arguments of the calls, which are JSON in JSON in some protocols. */
function pathsIn(answer: string): readonly string[] {
  return Array.from(answer.matchAll(/\\?"path\\?":\\?"(\w)/g), ([, path = '']) => path);
}
