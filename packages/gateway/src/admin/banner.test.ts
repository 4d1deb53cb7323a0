import { describe, expect, test } from 'vitest';
import { type BannerFacts, bannerText } from './banner.ts';
import { generateKey } from './keys.ts';
import { readyFileText } from './ready-file.ts';

const keys = { completions: generateKey(), messages: generateKey(), native: generateKey() };

const facts: BannerFacts = {
  deploymentName: 'Headgate',
  apiOrigin: 'http://127.0.0.1:8080',
  consoleOrigin: 'http://127.0.0.1:8081',
  selfConfiguration: { kind: 'demo', keys },
  models: { completions: 'demo-fast', messages: 'demo-fast', native: 'demo-fast' },
  channelCount: 3,
  modelCount: 2,
  setupToken: null,
  color: false,
};

describe('the text of a start', () => {
  test('a demo says that it is simulated, wherever an answer could be taken for real', () => {
    const text = bannerText(facts);
    expect(text).toContain('SIMULATED  Every answer is made up');
    expect(text).toContain('Stream an answer (the answer is simulated)');
    expect(text).toContain('2 models on 3 channels');
  });

  test('the call it prints is one a shell accepts: quoted JSON, the key, the model', () => {
    const text = bannerText(facts);
    const body = /-d '(.*)'/.exec(text)?.[1] ?? '';
    expect(JSON.parse(body)).toMatchObject({ model: 'demo-fast', stream: true });
    expect(text).toContain(
      `curl -N 'http://127.0.0.1:8080/v1/chat/completions' \\\n    -H 'Authorization: Bearer ${keys.completions}'`,
    );
  });

  test('so are the calls for the other surfaces', () => {
    const text = bannerText(facts);
    expect(text).toContain('The same as messages (the answer is simulated)');
    const [, messages = '', native = ''] = [...text.matchAll(/-d '(.*)'/g)].map(([, body]) => body);
    expect(JSON.parse(messages)).toMatchObject({ model: 'demo-fast', max_tokens: 1024, stream: true });
    expect(JSON.parse(native)).toHaveProperty('contents');
    expect(text).toContain(`GEMINI_API_KEY=${keys.native}`);
    expect(text).toContain(`-H 'x-api-key: ${keys.messages}'`);
    expect(bannerText({ ...facts, models: { completions: 'demo-fast' } })).not.toContain('v1/messages');
  });

  test('real channels are named by their variables, and the key is said to be shown once', () => {
    const text = bannerText({
      ...facts,
      selfConfiguration: { kind: 'environment', keys, variables: ['OPENAI_API_KEY'] },
    });
    expect(text).toContain('Real channels from OPENAI_API_KEY');
    expect(text).toContain('shown this once');
    expect(text).not.toContain('simulated');
  });

  test('a later start with real channels has no key to show', () => {
    const text = bannerText({
      ...facts,
      selfConfiguration: { kind: 'environment', keys: null, variables: ['OPENAI_API_KEY'] },
    });
    expect(text).not.toContain('Bearer');
    expect(text).toContain('headgate keys create');
  });

  test('a configured gateway says where it is and no more', () => {
    const text = bannerText({
      ...facts,
      selfConfiguration: { kind: 'none' },
      modelCount: 1,
      channelCount: 1,
    });
    expect(text).toBe(
      '\n  Headgate is ready\n\n  API      http://127.0.0.1:8080\n  Console  http://127.0.0.1:8081  (for now /healthz, /readyz and /metrics)\n  Serving  1 model on 1 channel\n\n',
    );
  });

  test('the set-up token comes with the place to use it', () => {
    expect(bannerText({ ...facts, setupToken: 'token-1' })).toContain(
      'http://127.0.0.1:8081/setup with this token:\n  token-1',
    );
  });

  test('colour is the only difference colour makes', () => {
    const colored = bannerText({ ...facts, color: true });
    expect(colored).toContain('\u001b[');
    expect(colored.replaceAll(/\u001b\[[\d;]*m/g, '').replaceAll(' SIMULATED ', 'SIMULATED')).toBe(
      bannerText(facts),
    );
  });
});

test('the ready file has what scripts need and is one line of JSON', () => {
  const text = readyFileText(facts);
  expect(text.endsWith('}\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({
    apiOrigin: 'http://127.0.0.1:8080',
    consoleOrigin: 'http://127.0.0.1:8081',
    keys,
    models: { completions: 'demo-fast', messages: 'demo-fast', native: 'demo-fast' },
    setupToken: null,
  });
});
