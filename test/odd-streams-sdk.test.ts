import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { protocols } from '@headgate/protocols';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isStream, type OddAnswer, oddAnswers } from '../packages/protocols/src/odd-servers.fixture.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';
import { type ScriptedUpstream, startScriptedUpstream, streamScript } from './support/scripted-upstream.ts';

/** Streams that an SDK would have missed something of, or failed on, had they come to it as they are. */
const mended = oddAnswers.filter((answer) => isStream(answer) && (answer.edits ?? []).length > 0);
const cases = mended.map((answer, place) => ({ answer, name: answer.name, model: `sdk-${place}` }));
const of = (protocol: OddAnswer['protocol']) => cases.filter(({ answer }) => answer.protocol === protocol);

let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: cases.map(({ model, answer: { protocol } }) => ({
      id: model,
      origin: scripted.origin,
      models: { [model]: 'm-1' },
      protocols: { [protocol]: protocols[protocol].usualPath },
    })),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  scripted.close();
});

function play({ body }: OddAnswer): void {
  scripted.script = streamScript([Buffer.from(body)]);
}

/** The ledger says of the answer what its caller has seen. */
async function expectBilled(model: string): Promise<void> {
  expect(await entryOfModel(gateway, model)).toMatchObject({ status: 'complete', unbilledReason: null });
}

describe('an SDK reads to the end', () => {
  test.each(of('chat-completions'))('chat: $name', async ({ answer, model }) => {
    play(answer);
    const client = new OpenAI({
      apiKey: gateway.keys.completions,
      baseURL: `${gateway.apiOrigin}/v1`,
      maxRetries: 0,
    });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    let text = '';
    for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true }))
      text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello');
    await expectBilled(model);
  });

  test.each(of('responses'))('responses: $name', async ({ answer, model }) => {
    play(answer);
    const client = new OpenAI({
      apiKey: gateway.keys.completions,
      baseURL: `${gateway.apiOrigin}/v1`,
      maxRetries: 0,
    });
    let text = '';
    let status: string | undefined;
    for await (const event of await client.responses.create({ model, input: 'Hi', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') status = event.response.status;
    }
    expect([text, status]).toEqual(['Hello', 'completed']);
    await expectBilled(model);
  });

  // The helper fails on two beginnings, and on none at all, which nobody else does.
  const begun = of('messages').filter(
    ({ name }) => !name.includes('beginning of the message') && !name.includes('second'),
  );
  test.each(begun)('messages: $name', async ({ answer, model }) => {
    play(answer);
    const client = new Anthropic({
      apiKey: gateway.keys.messages,
      baseURL: gateway.apiOrigin,
      maxRetries: 0,
    });
    const stream = client.messages.stream({
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(await stream.finalText()).toBe('Hello');
    await expectBilled(model);
  });

  test.each(of('generate-content'))('native: $name', async ({ answer, model }) => {
    play(answer);
    const client = new GoogleGenAI({
      apiKey: gateway.keys.native,
      httpOptions: { baseUrl: gateway.apiOrigin },
    });
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hi' }))
      text += chunk.text ?? '';
    expect(text).toBe('Hello');
    await expectBilled(model);
  });
});
