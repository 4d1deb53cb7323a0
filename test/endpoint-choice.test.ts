import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configureDirectory, runHeadgate, serveHeadgate, temporaryDirectory } from './support/process.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

/** The path and body that the upstream was last asked with. */
function lastAsked(): { readonly path: string; readonly body: Record<string, unknown> } {
  const { target: path, body } = simulator.requests.at(-1) ?? { target: '', body: new Uint8Array() };
  return { path, body: JSON.parse(Buffer.from(body).toString()) as Record<string, unknown> };
}

test('a real process asks by the endpoint that loses least of each call, and says which it was', {
  timeout: 60_000,
}, async () => {
  using directory = temporaryDirectory();
  const { key, options } = configureDirectory(directory.path, {
    channels: [
      {
        id: 'several',
        origin: simulator.origin,
        models: { m: 'sim-fast+tokens=3' },
        protocols: { 'chat-completions': '/chat/completions', responses: '/responses' },
      },
    ],
  });
  const { TEST_KEY_MESSAGES: messagesKey = '', TEST_KEY_NATIVE: nativeKey = '' } = options.environment ?? {};
  await using serving = await serveHeadgate(options);
  const call = async (path: string, credential: Record<string, string>, more: object) => {
    const answer = await fetch(`${serving.ready.apiOrigin}${path}`, {
      method: 'POST',
      headers: { ...credential, 'content-type': 'application/json' },
      body: JSON.stringify(more),
    });
    const told = await answer.text();
    expect(answer.status, told).toBe(200);
    return { losses: answer.headers.get('x-headgate-losses'), trace: answer.headers.get('x-trace-id') ?? '' };
  };
  const user = [{ role: 'user', content: 'Hi' }];
  const message = (more: object) =>
    call(
      '/v1/messages',
      { 'x-api-key': messagesKey },
      { model: 'm', max_tokens: 20, messages: user, ...more },
    );

  const plain = await message({});
  expect(lastAsked().path).toBe('/v1/responses');
  const stopped = await message({ stop_sequences: ['END'] });
  expect(lastAsked()).toMatchObject({ path: '/v1/chat/completions', body: { stop: ['END'] } });
  expect(stopped.losses).toBeNull();

  const native = (generationConfig: object) =>
    call(
      '/v1beta/models/m:generateContent',
      { 'x-goog-api-key': nativeKey },
      {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig,
      },
    );
  const seeded = await native({ seed: 7, presencePenalty: 0.5 });
  expect(lastAsked()).toMatchObject({
    path: '/v1/chat/completions',
    body: { seed: 7, presence_penalty: 0.5 },
  });
  expect(seeded.losses).toBeNull();

  const several = await native({ candidateCount: 3 });
  expect(lastAsked()).toMatchObject({ path: '/v1/chat/completions', body: { n: 3 } });
  expect(several.losses).toBeNull();

  // The caller's own protocol is never translated, whatever it asks for.
  const passed = await call(
    '/v1/chat/completions',
    { authorization: `Bearer ${key}` },
    { model: 'm', messages: user },
  );
  expect(lastAsked().path).toBe('/v1/chat/completions');

  const protocolOf = async (trace: string) => {
    const { stdout } = await runHeadgate(['route', 'explain', '--trace', trace, '--json'], options);
    const { plans } = JSON.parse(stdout) as {
      readonly plans: readonly { readonly protocol: string | null }[];
    };
    return plans.map(({ protocol }) => protocol);
  };
  expect(await protocolOf(plain.trace)).toEqual(['responses']);
  expect(await protocolOf(stopped.trace)).toEqual(['chat-completions']);
  expect(await protocolOf(passed.trace)).toEqual([null]);
  const { stdout } = await runHeadgate(['route', 'explain', '--key', 'messages', '--model', 'm'], options);
  expect(stdout).toContain(
    'Translated for several: to responses, or chat-completions where less of the call is lost.',
  );
});
