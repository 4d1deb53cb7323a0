import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { configurationText, openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { latestEntryOfModel } from './support/ledger.ts';
import { scrapeMetrics } from './support/metrics.ts';
import { chatRequest, exchange } from './support/raw-http.ts';

type Answer = 'answers' | 'refuses' | 'is busy for a second';

const answerBody = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

/** An upstream with a mind of its own about each key, and about how long it thinks. */
class Upstream {
  readonly answers = new Map<string, Answer>();
  /** Keys of the requests it got. */
  readonly keys: string[] = [];
  underWay = 0;
  mostUnderWay = 0;
  /** Answers wait until it is let go. */
  held: (() => void)[] | null = null;
  readonly #server = createServer((request, response) => this.#take(request, response));
  origin = '';

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  release(): void {
    const waiting = this.held ?? [];
    this.held = null;
    for (const go of waiting) go();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    this.keys.push(key);
    this.underWay++;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    response.on('close', () => this.underWay--);
    request.resume();
    request.on('end', () => {
      const go = () => answer(response, this.answers.get(key) ?? 'answers');
      if (this.held === null) go();
      else this.held.push(go);
    });
  }
}

function answer(response: ServerResponse, how: Answer): void {
  const json = { 'content-type': 'application/json' };
  if (how === 'answers') response.writeHead(200, json).end(answerBody);
  else if (how === 'refuses')
    response.writeHead(401, json).end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}');
  else
    response
      .writeHead(429, { ...json, 'retry-after': '1' })
      .end('{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}');
}

const keys = ['sk-one', 'sk-two', 'sk-three'];
const opened = new AsyncDisposableStack();
let upstream: Upstream;
let other: Upstream;
let gateway: TestGateway;
let channels: readonly TestChannel[];

beforeAll(async () => {
  upstream = opened.adopt(await new Upstream().listen(), (it) => it.close());
  other = opened.adopt(await new Upstream().listen(), (it) => it.close());
  const { origin } = upstream;
  channels = [
    { id: 'keyed', origin, models: { keyed: 'up' }, credentials: keys },
    { id: 'narrow', origin, models: { narrow: 'up' }, maxConcurrency: 4 },
    { id: 'wide', origin: other.origin, models: { narrow: 'up', spare: 'up' } },
    { id: 'closed', origin, models: { closed: 'up' }, maxConcurrency: 2 },
    { id: 'leaving', origin, models: { leaving: 'up' } },
    { id: 'staying', origin: other.origin, models: { leaving: 'up' } },
  ];
  gateway = opened.use(await openTestGateway({ channels }));
});
afterAll(() => {
  upstream.release();
  return opened.disposeAsync();
});

beforeEach(() => {
  for (const each of [upstream, other]) {
    each.keys.length = 0;
    each.mostUnderWay = 0;
    each.answers.clear();
  }
});

function call(model: string) {
  const messages = [{ role: 'user', content: 'Is it?' }];
  return exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, { model, messages }));
}

async function alertsOf(kind: string): Promise<number> {
  const metrics = await scrapeMetrics(gateway.consoleOrigin, gateway.dataDir);
  return Number(new RegExp(`headgate_alerts_total\\{kind="${kind}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
}

test('of three credentials one is refused and one is busy: callers see nothing, and the operator hears once', async () => {
  upstream.answers.set('sk-one', 'refuses');
  upstream.answers.set('sk-two', 'is busy for a second');
  for (let n = 0; n < 12; n++) {
    const { status, body } = await call('keyed');
    expect(status).toBe(200);
    expect(body.toString()).not.toContain('sk-');
  }
  const sent = (key: string) => upstream.keys.filter((each) => each === key).length;
  expect([sent('sk-one'), sent('sk-three')]).toEqual([1, 12]);
  expect(sent('sk-two')).toBeLessThanOrEqual(2);
  expect(await alertsOf('credential-refused')).toBe(1);

  // Its time over, what was busy is asked again, slowly at first: less than once in four seconds.
  upstream.answers.clear();
  const before = sent('sk-two');
  await vi.waitFor(
    async () => {
      expect((await call('keyed')).status).toBe(200);
      expect(sent('sk-two')).toBeGreaterThan(before);
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(sent('sk-one')).toBe(1);
}, 40_000);

test('fifty calls at once never exceed what a channel may have, and go elsewhere', async () => {
  upstream.held = [];
  const calls = Array.from({ length: 50 }, () => call('narrow'));
  await vi.waitFor(() => expect(upstream.keys.length + other.keys.length).toBe(50), { timeout: 10_000 });
  upstream.release();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(upstream.mostUnderWay).toBe(4);
});

test('where nothing is elsewhere, a caller is told to come back, and has the place when it is free', async () => {
  upstream.held = [];
  const first = [call('closed'), call('closed')];
  await expect.poll(() => upstream.keys).toHaveLength(2);
  const refused = await call('closed');
  upstream.release();
  await Promise.all(first);
  expect(upstream.mostUnderWay).toBe(2);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await call('closed')).status).toBe(200);
});

test('a channel that is drained ends what is under way and is sent nothing new', async () => {
  const held: (() => void)[] = [];
  upstream.held = held;
  const underWay = call('leaving');
  await expect.poll(() => held).toHaveLength(1);
  upstream.held = null;
  const drained = channels.map((each) => (each.id === 'leaving' ? { ...each, drain: true } : each));
  writeFileSync(join(gateway.dataDir, 'headgate.yaml'), configurationText({ channels: drained }));
  const served = async () => {
    expect((await call('leaving')).status).toBe(200);
    return (await latestEntryOfModel(gateway, 'leaving')).channelId;
  };
  await vi.waitFor(async () => expect(await served()).toBe('staying'), { timeout: 10_000, interval: 100 });
  for (let n = 0; n < 5; n++) expect(await served()).toBe('staying');
  held[0]?.();
  expect((await underWay).status).toBe(200);
});
