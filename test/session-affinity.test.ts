import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { configurationText, openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { ownAddress } from './support/own-address.ts';
import { exchange, request } from './support/raw-http.ts';

/** One turn of a conversation, as a caller sends it. */
interface Turn {
  readonly model: string;
  /** Tells conversations apart. */
  readonly subject: string;
  /** Turns before this one. */
  readonly past: number;
}

interface Surface {
  readonly platform: 'completions' | 'messages' | 'native';
  path(turn: Turn): string;
  body(turn: Turn): object;
}

/** Long enough for its price to be what counts: some ten thousand tokens. */
const rules = 'Never mind what others say of the rules of this house. '.repeat(750);
const said = (past: number) =>
  Array.from({ length: past }, (_, n) => [`Answer ${n}.`, `And then, ${n}?`] as const);

/** The cached tokens are told in whole answers and in streams. */
const isStreamed = (past: number) => past % 2 === 1;

/** Each says in a way of its own which conversation it is a turn of. */
const surfaces = {
  /** By how it began. */
  chat: {
    platform: 'completions',
    path: () => '/v1/chat/completions',
    body: ({ model, subject, past }) => ({
      model,
      stream: isStreamed(past),
      messages: [
        { role: 'system', content: rules },
        { role: 'user', content: `Tell me of ${subject}.` },
        ...said(past).flatMap(([answer, question]) => [
          { role: 'assistant', content: answer },
          { role: 'user', content: question },
        ]),
      ],
    }),
  },
  /** By a key for the cache. */
  responses: {
    platform: 'completions',
    path: () => '/v1/responses',
    body: ({ model, subject, past }) => ({
      model,
      stream: isStreamed(past),
      prompt_cache_key: `about-${subject}`,
      instructions: rules,
      input: said(past + 1).map(([, question]) => ({ type: 'message', role: 'user', content: question })),
    }),
  },
  /** By the session in a name of the user, which coding agents write there. */
  messages: {
    platform: 'messages',
    path: () => '/v1/messages',
    body: ({ model, subject, past }) => ({
      model,
      stream: isStreamed(past),
      max_tokens: 99,
      metadata: { user_id: `user_0123_account__session_${subject}` },
      system: [
        { type: 'text', text: `billing: ${past}` },
        { type: 'text', text: rules, cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Begin.' }] },
        ...said(past).flatMap(([answer, question]) => [
          { role: 'assistant', content: answer },
          { role: 'user', content: question },
        ]),
      ],
    }),
  },
  /** By how it began. */
  native: {
    platform: 'native',
    path: ({ model, past }) =>
      `/v1beta/models/${model}:${isStreamed(past) ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: ({ subject, past }) => ({
      systemInstruction: { parts: [{ text: rules }] },
      contents: [
        { role: 'user', parts: [{ text: `Tell me of ${subject}.` }] },
        ...said(past).flatMap(([answer, question]) => [
          { role: 'model', parts: [{ text: answer }] },
          { role: 'user', parts: [{ text: question }] },
        ]),
      ],
    }),
  },
} satisfies Record<string, Surface>;

type SurfaceName = keyof typeof surfaces;

const names = ['chat', 'responses', 'messages', 'native'] as const satisfies readonly SurfaceName[];

/** Channels by letter, of which each serves a model of each surface, alone and with the others. */
function channelsOf(costs: Readonly<Record<string, number>>): readonly TestChannel[] {
  return Object.entries(costs).map(([id, cost]) => ({
    id,
    priority: 0,
    origin: upstreamOf(id).origin,
    cost: { input: String(cost), cacheRead: String(cost / 10), output: String(cost) },
    models: Object.fromEntries(
      names.flatMap((name) => [
        [`${name}-shared`, `sim-${name}`],
        [`${name}-on-${id}`, `sim-${name}`],
        [`at-${cost}-on-${id}`, `sim-${name}`],
      ]),
    ),
  }));
}

/** On a machine that does other things beside, waiting would tell upstreams apart that are alike. */
const preset = 'cost';
const moreKeys = { another: {}, stranger: { account: 'strangers' } };
let upstreams: Readonly<Record<string, Simulator>>;
let gateway: TestGateway;
/** Tokens of each conversation in each upstream's cache. */
const cached = new Map<string, number>();

function upstreamOf(id: string): Simulator {
  const upstream = upstreams[id];
  if (upstream === undefined) throw new Error(`no upstream ${id}`);
  return upstream;
}

beforeAll(async () => {
  const host = ownAddress;
  upstreams = { a: await startSimulator({ host }), b: await startSimulator({ host }) };
  gateway = await openTestGateway({ channels: channelsOf({ a: 1, b: 1.01 }), moreKeys, preset });
  // Until caches have been seen at work, not much is expected of them.
  for (const name of names)
    for (const id of ['a', 'b'])
      for (let past = 0; past < 15; past++)
        expect(await take(name, { model: `${name}-on-${id}`, subject: `warming ${id}`, past })).toBe(id);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const upstream of Object.values(upstreams)) await upstream.close();
});

interface Sender {
  readonly key?: string;
  readonly headers?: readonly string[];
}

/** Sends a turn and says which upstream answered it. Upstreams have cached what they answered. */
async function take(name: SurfaceName, turn: Turn, { key, headers = [] }: Sender = {}): Promise<string> {
  const surface: Surface = surfaces[name];
  const tokens = 10_000 + 500 * turn.past;
  for (const [id, upstream] of Object.entries(upstreams)) {
    const known = cached.get(`${name} ${turn.subject} ${id}`) ?? 0;
    upstream.control.setScript(`tokens=2,prompt=${tokens},cached=${Math.min(tokens, known)}`);
  }
  const before = new Map(Object.entries(upstreams).map(([id, { requestCount }]) => [id, requestCount]));
  const own = key ?? gateway.keys[surface.platform];
  const auth = surface.platform === 'native' ? `x-goog-api-key: ${own}` : `authorization: Bearer ${own}`;
  const answer = await exchange(
    gateway.apiOrigin,
    request(
      `POST ${surface.path(turn)}`,
      [auth, 'content-type: application/json', ...headers],
      JSON.stringify(surface.body(turn)),
    ),
  );
  expect(answer.status).toBe(200);
  const served = Object.entries(upstreams).filter(
    ([id, { requestCount }]) => requestCount !== before.get(id),
  );
  const id = served.map(([each]) => each).join('+');
  cached.set(`${name} ${turn.subject} ${id}`, tokens);
  return id;
}

/** The upstreams that answered the turns of conversations, one word each. */
async function converse(
  name: SurfaceName,
  subjects: readonly string[],
  turns: number,
): Promise<readonly string[]> {
  const words: string[] = [];
  for (const subject of subjects) {
    let word = '';
    for (let past = 0; past < turns; past++)
      word += await take(name, { model: `${name}-shared`, subject, past });
    words.push(word);
  }
  return words;
}

const many = (what: string, length = 20) => Array.from({ length }, (_, n) => `${what} ${n}`);

describe.each(names)('a conversation of %s', (name) => {
  test('stays where its prefix is warm, and others begin elsewhere', async () => {
    // So many that one slow answer of an upstream, after which few begin there, does not leave it out.
    const words = await converse(name, many('staying', 80), 3);
    expect(new Set(words)).toEqual(new Set(['aaa', 'bbb']));
  });
});

describe('a price and no pin', () => {
  test('where a warm upstream is gone, the conversation goes on elsewhere, and stays there', async () => {
    const turn = { model: 'chat-shared', subject: 'an outage' };
    const home = await take('chat', { ...turn, past: 0 });
    await upstreamOf(home).control.goDown();
    const refuge = await take('chat', { ...turn, past: 1 });
    expect(refuge).not.toBe(home);
    expect(await take('chat', { ...turn, past: 2 })).toBe(refuge);
    await upstreamOf(home).control.comeUp();
  });
});

describe('who says which conversation it is', () => {
  test('a header of ours is believed before all else, under any key of the account, and goes no further', async () => {
    const headers = ['x-headgate-session: the one'];
    const home = await take('chat', { model: 'chat-shared', subject: 'session 0', past: 0 }, { headers });
    for (const subject of many('session')) {
      const sender = { headers, key: gateway.moreKeys['another'] ?? '' };
      cached.set(`chat ${subject} ${home}`, 10_000);
      expect(await take('chat', { model: 'chat-shared', subject, past: 0 }, sender)).toBe(home);
    }
    expect(JSON.stringify(upstreamOf(home).requests.at(-1)?.headers)).not.toContain('the one');
  });

  test('the same words of another account are another conversation', async () => {
    const subjects = many('secrets');
    const own = await converse('responses', subjects, 1);
    const theirs: string[] = [];
    for (const subject of subjects)
      theirs.push(
        await take(
          'responses',
          { model: 'responses-shared', subject, past: 1 },
          { key: gateway.moreKeys['stranger'] ?? '' },
        ),
      );
    expect(theirs).not.toEqual(own);
  });
});

test('where a warm upstream has become much dearer, the conversation leaves it', async () => {
  const turn = { model: 'native-shared', subject: 'a rise' };
  const home = await take('native', { ...turn, past: 0 });
  expect(await take('native', { ...turn, past: 1 })).toBe(home);
  const costs = { a: 1, b: 1, [home]: 8 };
  writeFileSync(
    join(gateway.dataDir, 'headgate.yaml'),
    configurationText({ channels: channelsOf(costs), moreKeys, preset }),
  );
  await vi.waitFor(() => take('native', { model: `at-8-on-${home}`, subject: 'news', past: 0 }), {
    timeout: 5_000,
    interval: 50,
  });
  expect(await take('native', { ...turn, past: 2 })).not.toBe(home);
});
