import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { chatRequest, exchange, type RawAnswer } from './support/raw-http.ts';
import { surfaceRequest, surfaces } from './support/surface-calls.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      { id: 'same', origin, models: { same: 'sim-fast+tokens=3' } },
      { id: 'other', origin, models: { other: 'sim-fast+tokens=3' }, protocols: { messages: '/messages' } },
    ],
    flags: { 'call-log': 'true', 'log-level': 'info' },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

/** Halves of pairs, pairs where names are cut, controls, and what heads and lines would be broken by. */
const odd: readonly (readonly [what: string, text: string])[] = [
  ['the first half of a pair', '\ud83d'],
  ['the second half of a pair', '\ude00'],
  ['both halves the wrong way round', '\ude00\ud83d'],
  ['pairs at every place where it may be cut', '😀'.repeat(2_000)],
  ['the same, moved by one', `x${'😀'.repeat(2_000)}`],
  ['ends of lines and quotes', '"\r\nx-injected: 1\r\n\u2028'],
  ['controls', '\u0000\u0007\u001b[31m'],
  ['right to left', '\u202egnp.exe'],
];

/** An upstream that repeats the caller's own text is passed on as it is: escaped, so that the bytes are sound. */
function expectWhole(answer: RawAnswer, own: string): void {
  expect([200, 400, 404]).toContain(answer.status);
  expect(answer.isWhole).toBe(true);
  expect(answer.headers.get('x-injected')).toBeUndefined();
  expect(isUtf8(answer.body)).toBe(true);
  const torn = textsIn(JSON.parse(answer.body.toString())).filter((text) => !text.isWellFormed());
  expect(torn.filter((text) => answer.status !== 200 || text !== own)).toEqual([]);
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]);
}

// The process lives, whatever it was sent.
afterEach(async () => {
  const sound = { model: 'same', messages: [{ role: 'user', content: 'hi' }] };
  expect((await exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, sound))).status).toBe(200);
});

test.each(odd)('the name of a model: %s', async (_, text) => {
  for (const surface of surfaces) {
    const model = surface === 'generate-content' ? percentEncoded(text) : text;
    expectWhole(await exchange(gateway.apiOrigin, surfaceRequest(gateway, surface, model, 'json')), text);
  }
});

/** The bytes that a path would have of it, those of halves of pairs too, which are no UTF-8. */
function percentEncoded(text: string): string {
  const bytes = text.isWellFormed()
    ? Buffer.from(text.slice(0, 500).toWellFormed())
    : Buffer.from([0xed, 0xa0, 0xbd]);
  return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Members of a chat request that have the text as their name, or in a place that is kept or told. */
const membersOf: Readonly<Record<string, (text: string) => object>> = {
  'a member that nobody knows': (text) => ({ [text]: 1 }),
  'a tool': (text) => ({
    tools: [{ type: 'function', function: { name: text, parameters: { type: 'object', properties: {} } } }],
  }),
  'a member of a tool': (text) => ({
    tools: [{ type: 'function', function: { name: 'f', [text]: true, parameters: { [text]: 1 } } }],
  }),
  'the tag': (text) => ({ metadata: { tag: text } }),
  'the user': (text) => ({ user: text, prompt_cache_key: text }),
  'a schema': (text) => ({
    response_format: { type: 'json_schema', json_schema: { name: text, schema: { type: 'object' } } },
  }),
  'words that end it': (text) => ({ stop: [text] }),
  'what was said': (text) => ({ messages: [{ role: 'user', content: text, name: text }] }),
};

for (const [member, write] of Object.entries(membersOf))
  test.each(odd)(`${member}: %s`, async (_, text) => {
    for (const model of ['same', 'other']) {
      const body = { model, messages: [{ role: 'user', content: 'hi' }], ...write(text) };
      const answer = await exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, body));
      expectWhole(answer, text);
      const losses = answer.headers.get('x-headgate-losses') ?? '';
      expect(losses).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(losses).isWellFormed()).toBe(true);
    }
  });

test('whatever was kept of them is whole: entries, the console, its export, the log', async () => {
  await gateway.store.catchUp();
  const entries = await entriesOf(gateway);
  expect(entries.length).toBeGreaterThan(100);
  for (const entry of entries)
    for (const text of textsIn(withoutNumbers(entry))) expect(text.isWellFormed()).toBe(true);
  const token = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
  const asked = async (path: string) => {
    const answer = await fetch(`${gateway.consoleOrigin}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    return answer.text();
  };
  for (const text of textsIn(JSON.parse(await asked('/calls?limit=200'))))
    expect(text.isWellFormed()).toBe(true);
  const lines = (await asked('/calls/export?format=ndjson')).trimEnd().split('\n');
  for (const line of lines)
    for (const text of textsIn(JSON.parse(line))) expect(text.isWellFormed()).toBe(true);
  await vi.waitFor(() => {
    const log = readFileSync(join(gateway.dataDir, 'log'));
    expect(log.length).toBeGreaterThan(0);
    expect(isUtf8(log)).toBe(true);
  }, 5_000);
});

/** Amounts are integers that JSON does not have. */
function withoutNumbers(entry: object): unknown {
  return JSON.parse(
    JSON.stringify(entry, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  );
}
