import { describe, expect, test } from 'vitest';
import { type BannerFacts, bannerText } from './banner.ts';
import { generateKey } from './keys.ts';
import { setUpLink, setUpToken } from './people/set-up.ts';
import { readyFileText } from './ready-file.ts';

const keys = { completions: generateKey(), messages: generateKey(), native: generateKey() };

const facts: BannerFacts = {
  deploymentName: 'Headgate',
  apiOrigin: 'http://127.0.0.1:8080',
  consoleOrigin: 'http://127.0.0.1:8081',
  selfConfiguration: { kind: 'demo', keys, isNew: true },
  models: { completions: 'demo-fast', messages: 'demo-fast', native: 'demo-fast' },
  channelCount: 3,
  modelCount: 2,
  setUpLink: setUpLink('http://127.0.0.1:8081', setUpToken('token', Date.UTC(2026, 10, 23))),
  color: false,
};

/** Rows that a terminal of 80 columns needs for a text. */
function rowsOf(text: string): number {
  return text
    .split('\n')
    .slice(0, -1)
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / 80)), 0);
}

describe('the text of a start', () => {
  test('fits a terminal of 24 lines and 80 columns', () => {
    expect(rowsOf(bannerText(facts))).toBeLessThanOrEqual(24);
    const variables = ['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENAI_API_KEY'];
    const real = { ...facts, selfConfiguration: { kind: 'environment', keys, variables } as const };
    expect(rowsOf(bannerText(real))).toBeLessThanOrEqual(24);
  });

  test('a demo says that it is simulated, wherever an answer could be taken for real', () => {
    const text = bannerText(facts);
    expect(text).toContain('SIMULATED  Answers are made up');
    expect(text).toContain('A first call (the answer is simulated)');
    expect(text).toContain('2 models on 3 channels');
  });

  test('the call it prints is one a shell accepts: quoted JSON, the key, the model', () => {
    const text = bannerText(facts);
    const body = /-d '(.*)'/.exec(text)?.[1] ?? '';
    expect(JSON.parse(body)).toMatchObject({ model: 'demo-fast' });
    expect(text).toContain(
      `curl -s 'http://127.0.0.1:8080/v1/chat/completions' \\\n-H 'Authorization: Bearer ${keys.completions}'`,
    );
  });

  test('it is a call of another surface where there is no model for the first', () => {
    const messages = bannerText({ ...facts, models: { messages: 'demo-fast', native: 'demo-fast' } });
    expect(JSON.parse(/-d '(.*)'/.exec(messages)?.[1] ?? '')).toMatchObject({ max_tokens: 1024 });
    expect(messages).toContain(`-H 'x-api-key: ${keys.messages}'`);
    const native = bannerText({ ...facts, models: { native: 'demo-fast' } });
    expect(JSON.parse(/-d '(.*)'/.exec(native)?.[1] ?? '')).toHaveProperty('contents');
    expect(native).toContain(`GEMINI_API_KEY=${keys.native}`);
    expect(native).not.toContain('OPENAI_API_KEY=');
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
      setUpLink: null,
      modelCount: 1,
      channelCount: 1,
    });
    expect(text).toBe(
      '\n Headgate is ready: 1 model on 1 channel\n API      http://127.0.0.1:8080\n Console  http://127.0.0.1:8081  (/healthz, /readyz, /metrics)\n',
    );
  });

  test('a console without people has a link to its set-up, which fits a line', () => {
    expect(bannerText(facts)).toMatch(
      /\n Console {2}http:\/\/127\.0\.0\.1:8081\/setup#\w+\.[\w-]{22} {2}\(set it up\)\n/,
    );
    expect(bannerText({ ...facts, setUpLink: null })).not.toContain('setup');
    const line = bannerText(facts)
      .split('\n')
      .find((each) => each.includes('/setup#'));
    expect(line?.length).toBeLessThanOrEqual(80);
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
  const text = readyFileText({ ...facts, setupToken: null });
  expect(text.endsWith('}\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({
    apiOrigin: 'http://127.0.0.1:8080',
    consoleOrigin: 'http://127.0.0.1:8081',
    keys,
    models: { completions: 'demo-fast', messages: 'demo-fast', native: 'demo-fast' },
    setupToken: null,
  });
});
