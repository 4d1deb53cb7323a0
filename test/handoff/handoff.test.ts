import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestChannel, type TestGateway } from '../support/gateway.ts';
import { entryOf } from '../support/ledger.ts';
import { bodiesOf } from '../support/protocol-site.ts';
import { exchange, type RawAnswer, request } from '../support/raw-http.ts';
import { type Ask, type History, json, type Said, type SurfaceDialogue } from './dialogue.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { chatCompletions } from './surfaces/chat-completions.ts';
import { generateContent } from './surfaces/generate-content.ts';
import { messages } from './surfaces/messages.ts';
import { responses } from './surfaces/responses.ts';

const surfaces: readonly SurfaceDialogue[] = [chatCompletions, responses, messages, generateContent];

/** The upstreams: each speaks one protocol alone. */
const upstreams = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
} as const;

type Upstream = keyof typeof upstreams;

const upstreamIds = Object.keys(upstreams) as Upstream[]; // The keys of a record over a closed union are that union.
const modes = ['json', 'stream'] as const;

type Mode = (typeof modes)[number];

const faults = {
  'error before content': 'fault=500',
  'cut mid-stream': 'fault=reset-mid-stream,tokens=30,at=5',
};

/** Nano-dollars for a token: a million tokens cost 1 USD in and 2 USD out. */
const price = { input: 1000n, output: 2000n };

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator({ requestsKept: 10_000 });
  gateway = await openTestGateway({
    channels: channelsOf(simulator.origin),
    reasoning: upstreamIds.map((id) => modelOf(id, 'reasoning')),
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

/** A channel per protocol with every scenario, and for each surface a failing one of its own before one of another vendor. */
function channelsOf(origin: string): readonly TestChannel[] {
  const commands = [
    ...scenarios.map(({ name, command }) => [name, command] as const),
    ...Object.entries(faults),
  ];
  const perUpstream = upstreamIds.map((id) => ({
    id,
    origin,
    protocols: { [id]: upstreams[id] },
    models: Object.fromEntries<string>([
      ...commands.map(([name, command]) => [modelOf(id, name), `sim-x+${command}`] as const),
      ...handovers
        .filter(({ to }) => to === id)
        .map((handover) => [handoverModel(handover), 'sim-x+tokens=7,prompt=9'] as const),
    ]),
  }));
  const failing = upstreamIds.map((id) => ({
    id: `failing-${id}`,
    origin,
    protocols: { [id]: upstreams[id] },
    models: Object.fromEntries(
      handovers
        .filter(({ from }) => from === id)
        .map((handover) => [handoverModel(handover), `${handoverModel(handover)}+fault=503`]),
    ),
  }));
  return [...failing, ...perUpstream];
}

/** A call whose first channel speaks its own protocol and fails, and whose other one speaks another. */
interface Handover {
  readonly from: Upstream;
  readonly to: Upstream;
  readonly mode: Mode;
}

const handovers: readonly Handover[] = upstreamIds.flatMap((from) =>
  upstreamIds.filter((to) => to !== from).flatMap((to) => modes.map((mode) => ({ from, to, mode }))),
);

function handoverModel({ from, to, mode }: Handover): string {
  return `${from}.then.${to}.${mode}`;
}

function modelOf(upstream: Upstream, scenario: string): string {
  return `${upstream}.${scenario.replaceAll(' ', '-')}`;
}

interface Exchanged {
  readonly answer: RawAnswer;
  /** The answer's text, whatever its framing. */
  readonly text: string;
}

async function send(
  surface: SurfaceDialogue,
  model: string,
  ask: Ask,
  history: History,
  mode: Mode,
): Promise<Exchanged> {
  const { path, body } = surface.request(model, ask, history, mode === 'stream');
  const key = gateway.keys[surface.platform];
  const credential =
    surface.platform === 'native' ? `x-goog-api-key: ${key}` : `authorization: Bearer ${key}`;
  const headers = [credential, 'content-type: application/json'];
  const answer = await exchange(gateway.apiOrigin, request(`POST ${path}`, headers, JSON.stringify(body)));
  return { answer, text: answer.body.toString() };
}

function read(surface: SurfaceDialogue, { answer, text }: Exchanged, mode: Mode): Said {
  expect(answer, text).toMatchObject({ status: 200, isWhole: true });
  return mode === 'json' ? surface.readWhole(json(JSON.parse(text))) : surface.readStream(text);
}

async function expectCharge({ answer }: Exchanged, inputTokens: number, outputTokens: number): Promise<void> {
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
  expect(entry).toMatchObject({ status: 'complete', unbilledReason: null, usageSource: 'upstream' });
  expect(entry.chargeNanoUsd).toBe(BigInt(inputTokens) * price.input + BigInt(outputTokens) * price.output);
}

/** Plays a scenario to its end; the losses each of its turns told of. */
async function play(surface: SurfaceDialogue, upstream: Upstream, scenario: Scenario, mode: Mode) {
  const model = modelOf(upstream, scenario.name);
  const losses = new Set<string>();
  let history = surface.begin(scenario.ask);
  let said: Said | null = null;
  for (const turn of scenario.turns) {
    const exchanged = await send(surface, model, scenario.ask, history, mode);
    said = read(surface, exchanged, mode);
    const outputTokens = turn.outputTokens === 'pieces' ? Math.ceil(said.text.length / 8) : turn.outputTokens;
    expect(said).toMatchObject({
      ...turn.said,
      tokens: { input: scenario.inputTokens, output: outputTokens },
    });
    await expectCharge(exchanged, scenario.inputTokens, outputTokens);
    for (const loss of exchanged.answer.headers.get('x-headgate-losses')?.split(', ') ?? []) losses.add(loss);
    expect(new Set(said.calls.map(({ id }) => id)).size).toBe(said.calls.length);
    history = surface.goOn(history, said, turn.results ?? []);
  }
  if (scenario.looks !== undefined) expect(said?.text.trim()).toMatch(scenario.looks);
  return { said, history, losses: [...losses].sort() };
}

/** The losses of each scenario on its way, as a line each. */
const lossLines = new Set<string>();

describe.each(surfaces)('a caller of $id', (surface) => {
  describe.each(upstreamIds)('served by %s', (upstream) => {
    test.each(scenarios.flatMap((scenario) => modes.map((mode) => ({ ...scenario, scenario, mode }))))(
      '$name, $mode',
      async ({ scenario, mode }) => {
        const { losses } = await play(surface, upstream, scenario, mode);
        if (surface.id === upstream) expect(losses).toEqual([]);
        for (const loss of losses) lossLines.add(`${surface.id} → ${upstream}, ${scenario.name}: ${loss}`);
      },
    );

    test.each(modes)('an error before content, %s', async (mode) => {
      const { answer, text } = await send(
        surface,
        modelOf(upstream, 'error before content'),
        { prompt: 'Hi' },
        surface.begin({ prompt: 'Hi' }),
        mode,
      );
      expect(answer.status).toBe(502);
      const { error } = json(JSON.parse(text));
      expect(json(error)['trace_id']).toBe(answer.headers.get('x-trace-id'));
      await expectUncharged(answer, 'upstream_failed');
    });

    test('a cut in the middle of a stream never looks complete', async () => {
      const ask = { prompt: 'Hi' };
      const model = modelOf(upstream, 'cut mid-stream');
      const { answer, text } = await send(surface, model, ask, surface.begin(ask), 'stream');
      expect(answer).toMatchObject({ status: 200, isWhole: false });
      expect(text).not.toMatch(surface.endMark);
      expect(text).toContain('upstream_error');
      expect(() => surface.readStream(text)).toThrow();
      await expectUncharged(answer, 'cut_after_content');
    });

    test('a cut in the middle of a JSON answer is an error', async () => {
      const ask = { prompt: 'Hi' };
      const model = modelOf(upstream, 'cut mid-stream');
      const { answer } = await send(surface, model, ask, surface.begin(ask), 'json');
      expect(answer.status).toBe(502);
      await expectUncharged(answer, 'upstream_failed');
    });

    test.each(modes)('thoughts are shown, and return only to where they came from, %s', async (mode) => {
      const scenario = scenarios.find(({ name }) => name === 'reasoning');
      if (scenario === undefined) throw new Error('no such scenario');
      const { said, history } = await play(surface, upstream, scenario, mode);
      expect(said?.reasoning.trim()).toMatch(/^(\S+\s*){5}$/);
      const again = [...history, ...surface.begin(scenario.ask)];
      for (const next of upstreamIds) {
        const exchanged = await send(surface, modelOf(next, 'reasoning'), scenario.ask, again, mode);
        expect(read(surface, exchanged, mode).text.trim()).toMatch(/^(\S+\s*){4}$/);
        const sent = bodiesOf(simulator).at(-1) ?? '';
        expect(sent, 'state with our mark went upstream').not.toMatch(/gw1\.|Z3cxL/);
        if (next !== upstream && upstream !== surface.id) expect(sent).not.toContain('c2ltdWxhdGVk');
      }
    });
  });

  test.each(handovers.filter(({ from }) => from === surface.id))(
    'is served by $to when its own protocol fails, and sees nothing of it, $mode',
    async (handover) => {
      const { mode } = handover;
      const ask = { prompt: 'Hi' };
      const exchanged = await send(surface, handoverModel(handover), ask, surface.begin(ask), mode);
      expect(read(surface, exchanged, mode).tokens).toEqual({ input: 9, output: 7 });
      expect(exchanged.answer.headers.get('x-headgate-attempts')).toBe('2');
      await expectCharge(exchanged, 9, 7);
    },
  );
});

test('the losses are those under review', async () => {
  await expect(`${[...lossLines].join('\n')}\n`).toMatchFileSnapshot('losses.txt');
});

async function expectUncharged(answer: RawAnswer, reason: string): Promise<void> {
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
  expect(entry).toMatchObject({ chargeNanoUsd: 0n, unbilledReason: reason });
}
