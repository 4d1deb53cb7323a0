import { protocols } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isStream, type OddAnswer, oddAnswers } from '../packages/protocols/src/odd-servers.fixture.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { type PeakMemory, watchPeakMemory } from './support/peak-memory.ts';
import {
  jsonScript,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamScript,
} from './support/scripted-upstream.ts';

/** Every odd answer has a model and a channel of its own, which no failure of another puts out of service. */
const cases = oddAnswers.map(
  (answer, place) => [`${answer.protocol}: ${answer.name}`, `odd-${place}`, answer] as const,
);

let scripted: ScriptedUpstream;
let gateway: TestGateway;
let memory: PeakMemory;

beforeAll(async () => {
  memory = watchPeakMemory();
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: cases.map(([, model, { protocol, dialect = {} }]) => ({
      id: model,
      origin: scripted.origin,
      models: { [model]: 'm-1' },
      protocols: { [protocol]: protocols[protocol].usualPath },
      dialect,
    })),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  scripted.close();
  memory.expectBounded();
});

type Surface = OddAnswer['protocol'];

/** A question on each surface that any answer is an answer to. */
const questions = {
  'chat-completions': (model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${gateway.keys.completions}` },
    body: {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    },
  }),
  responses: (model: string, stream: boolean) => ({
    path: '/v1/responses',
    headers: { authorization: `Bearer ${gateway.keys.completions}` },
    body: { model, input: 'Hi', stream },
  }),
  messages: (model: string, stream: boolean) => ({
    path: '/v1/messages',
    headers: { 'x-api-key': gateway.keys.messages },
    body: { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], stream },
  }),
  'generate-content': (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: { 'x-goog-api-key': gateway.keys.native },
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  }),
} satisfies Record<Surface, unknown>;

async function ask(surface: Surface, model: string, answer: OddAnswer) {
  const isStreamed = isStream(answer);
  scripted.script = isStreamed ? streamScript([Buffer.from(answer.body)]) : jsonScript(answer.body);
  const { path, headers, body } = questions[surface](model, isStreamed);
  const response = await fetch(`${gateway.apiOrigin}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const entry = await entryOf(gateway, response.headers.get('x-trace-id') ?? '');
  return { status: response.status, text, entry };
}

/** Without what a server says beside its data, or behind an event that is the last one of its protocol. */
function linesOf(body: string, { protocol }: OddAnswer): readonly string[] {
  const isTold = (line: string) => line !== '' && !line.startsWith(':');
  const isLast = (line: string) => protocol === 'responses' && line === 'data: [DONE]';
  return body.split(/\r\n|\n/).filter((line) => isTold(line) && !isLast(line));
}

function expectPaid({ entry }: Awaited<ReturnType<typeof ask>>, { says }: OddAnswer): void {
  const tokens = says?.tokens ?? null;
  const usageSource = tokens === null ? 'estimated' : 'upstream';
  expect(entry).toMatchObject({ status: 'complete', unbilledReason: null, usageSource });
  const { usage } = entry;
  if (tokens !== null) expect([usage.inputFresh, usage.output]).toEqual(tokens);
  // A token is four bytes of what was written, where nobody counts.
  else expect(usage.output).toBe(Math.ceil((says?.text ?? '').length / 4));
  expect(entry.chargeNanoUsd).toBeGreaterThan(0n);
}

describe('an answer that is not quite of its protocol, to callers of it', () => {
  test.each(cases)('%s', async (_, model, answer) => {
    const told = await ask(answer.protocol, model, answer);
    const { entry, status, text } = told;
    if (answer.says !== null) {
      expect(status, text).toBe(200);
      expect(linesOf(text, answer)).toEqual(linesOf(answer.told ?? answer.body, answer));
      expect(entry.attempts[0]?.edits).toEqual(expect.arrayContaining([...(answer.edits ?? [])]));
      return expectPaid(told, answer);
    }
    expect(entry).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
    expect(entry.unbilledReason).toMatch(/^(upstream_failed|zero_completion)$/);
    // This protocol's own callers know its word for it; all others are told of an error.
    if (answer.protocol === 'generate-content')
      expect(linesOf(text, answer)).toEqual(linesOf(answer.body, answer));
    else expect(status).toBe(502);
  });
});

describe.each(Object.keys(questions) as Surface[])('the same to callers of %s', (surface) => {
  const others = cases.filter(([, , { protocol }]) => protocol !== surface);
  test.each(others)('%s', async (_, model, answer) => {
    const told = await ask(surface, model, answer);
    if (answer.says === null) {
      expect([502, 503]).toContain(told.status);
      return expect(told.entry).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
    }
    expect(told.status, told.text).toBe(200);
    expectPaid(told, answer);
    const { text = '', thoughts, calls = [] } = answer.says;
    // A stream may have its text in pieces, and some protocols repeat all of it at the end; it never comes twice in a row.
    expect(told.text).toContain(text.slice(0, 3));
    expect(told.text).not.toContain('HelloHello');
    for (const [name] of calls) expect(told.text).toContain(name);
    if (thoughts !== undefined && surface !== 'generate-content') expect(told.text).toContain(thoughts);
  });
});
