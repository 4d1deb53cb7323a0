import { startSimulator } from '@headgate/simulator';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { openTestGateway } from './support/gateway.ts';

test('a streamed call reaches the simulator and is metered', async () => {
  const simulator = await startSimulator();
  await using gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim-fast' } }],
  });
  const client = new OpenAI({ apiKey: gateway.keys.completions, baseURL: `${gateway.apiOrigin}/v1`, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: 'demo',
    stream: true,
    messages: [{ role: 'user', content: 'Say hello' }],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text.length).toBeGreaterThan(10);
  const usage = await fetch(`${gateway.apiOrigin}/v1/usage`, {
    headers: { authorization: `Bearer ${gateway.keys.completions}` },
  });
  console.log(await usage.json());
  await simulator.close();
});
