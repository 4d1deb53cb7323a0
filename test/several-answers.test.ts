import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange, nativeRequest } from './support/raw-http.ts';

const models = { m: 'sim-fast+tokens=5,prompt=4' };
const choices = 3;
const tokens = 5;

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const channel = (id: string, protocols: Record<string, string>) => ({
    id,
    origin,
    models: { [id]: models.m },
    protocols,
  });
  gateway = await openTestGateway({
    channels: [
      channel('native', { 'generate-content': '/models/{model}:{action}' }),
      channel('chat', { responses: '/responses', 'chat-completions': '/chat/completions' }),
      channel('responses', { responses: '/responses' }),
    ],
    prices: { native: { input: '0', output: '1000' }, chat: { input: '0', output: '1000' } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

interface ChatChunk {
  readonly choices: readonly {
    readonly index: number;
    readonly message?: { readonly content: string };
    readonly delta?: { readonly content?: string };
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

interface NativeChunk {
  readonly candidates: readonly {
    readonly index: number;
    readonly content?: { readonly parts: readonly { readonly text?: string }[] };
  }[];
  readonly usageMetadata?: { readonly candidatesTokenCount: number };
}

async function send(request: Buffer) {
  const { status, body, headers } = await exchange(gateway.apiOrigin, request);
  return { status, text: body.toString(), trace: headers.get('x-trace-id') };
}

function chat(model: string, stream: boolean) {
  const messages = [{ role: 'user', content: 'Hi' }];
  const options = stream ? { stream, stream_options: { include_usage: true } } : {};
  return send(chatRequest(gateway.keys.completions, { model, messages, n: choices, ...options }));
}

function native(model: string, action: string) {
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { candidateCount: choices },
  };
  return send(nativeRequest(gateway.keys.native, `${model}:${action}`, body));
}

function eventsIn<Chunk>(text: string): readonly Chunk[] {
  const events = text.split(/\r?\n\r?\n/).filter((event) => event.startsWith('data: {'));
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk); // The test asks for this shape.
}

async function expectCharged(trace: string | undefined): Promise<void> {
  const entry = await entryOf(gateway, trace);
  expect(entry).toMatchObject({ status: 'complete', usage: { output: choices * tokens } });
  expect(entry.attempts).toHaveLength(1);
  expect(entry.chargeNanoUsd).toBe(BigInt(choices * tokens) * 1_000_000n);
}

test.each([false, true])('a chat caller gets them from a native upstream, stream %j', async (stream) => {
  const { status, text, trace } = await chat('native', stream);
  expect(status, text).toBe(200);
  const chunks = stream ? eventsIn<ChatChunk>(text) : [JSON.parse(text) as ChatChunk];
  const said = chunks.flatMap((chunk) => chunk.choices);
  for (let index = 0; index < choices; index++) {
    const own = said.filter((choice) => choice.index === index);
    expect(own.map(({ message, delta }) => message?.content ?? delta?.content ?? '').join('')).not.toBe('');
  }
  expect(chunks.filter(({ usage }) => usage != null)).toHaveLength(1);
  expect(chunks.at(-1)?.usage?.completion_tokens).toBe(choices * tokens);
  await expectCharged(trace);
});

test.each(['generateContent', 'streamGenerateContent?alt=sse', 'streamGenerateContent'])(
  'a native caller gets them by chat completions where the channel speaks several: %s',
  async (action) => {
    const { status, text, trace } = await native('chat', action);
    expect(status, text).toBe(200);
    const parsed = action.endsWith('=sse')
      ? eventsIn<NativeChunk>(text)
      : ([JSON.parse(text)].flat() as NativeChunk[]);
    const said = parsed.flatMap((chunk) => chunk.candidates);
    for (let index = 0; index < choices; index++) {
      const own = said.filter((candidate) => candidate.index === index);
      expect(own.flatMap(({ content }) => content?.parts ?? []).some(({ text = '' }) => text !== '')).toBe(
        true,
      );
    }
    expect(parsed.at(-1)?.usageMetadata?.candidatesTokenCount).toBe(choices * tokens);
    await expectCharged(trace);
  },
);

test('where no protocol of the channel has the word, it is refused by its name', async () => {
  const answer = await chat('responses', false);
  expect(answer).toMatchObject({ status: 400 });
  expect(JSON.parse(answer.text)).toMatchObject({ error: { param: 'n' } });
});
