import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { scrapeMetrics } from './support/metrics.ts';
import {
  type ProcessOptions,
  runHeadgate,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe('a first start without configuration', () => {
  const directory = temporaryDirectory();
  const options: ProcessOptions = { dataDir: directory.path };
  let serving: ServingProcess;

  beforeAll(async () => {
    serving = await serveHeadgate(options);
  });
  afterAll(async () => {
    await serving[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test('tells scripts where it listens and how to call it', () => {
    const { apiOrigin, consoleOrigin, keys, ...others } = serving.ready;
    for (const origin of [apiOrigin, consoleOrigin]) expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.keys(keys)).toEqual(['completions', 'messages', 'native']);
    for (const key of Object.values(keys)) expect(key).toMatch(/^sk-/);
    const models = { completions: 'demo-fast', messages: 'demo-fast', native: 'demo-fast' };
    expect(others).toEqual({ models, setupToken: expect.stringMatching(/^\w+\.[\w-]{22}$/) as string });
  });

  test('prints a call that works as it is and prints a sentence', async () => {
    const printed = callsIn(serving.process.stdout);
    expect(printed).toHaveLength(1);
    const [answer = ''] = await Promise.all(printed.map(perform));
    expect(answer).toMatch(/^\w[^{}"]+\n$/);
    expect(answer.split('\n').length).toBeLessThan(5);
  });

  test('says that its answers are simulated', () => {
    expect(serving.process.stdout).toContain('SIMULATED');
    expect(serving.process.stdout).toContain('(the answer is simulated)');
  });

  test('answers probes and shows metrics on the console origin', async () => {
    const { consoleOrigin } = serving.ready;
    const statuses = await Promise.all(
      ['healthz', 'readyz', 'metrics'].map(async (path) => (await fetch(`${consoleOrigin}/${path}`)).status),
    );
    expect(statuses).toEqual([200, 200, 401]);
    expect(await scrapeMetrics(consoleOrigin, directory.path)).toMatch(/^# TYPE headgate_/m);
  });

  test('keeps its two origins apart', async () => {
    const { apiOrigin, consoleOrigin } = serving.ready;
    const probes = await Promise.all([fetch(`${apiOrigin}/healthz`), fetch(`${consoleOrigin}/v1/models`)]);
    expect(probes.map(({ status }) => status)).toEqual([404, 404]);
  });

  test('leaves nothing in its data directory for others to read', async () => {
    const listing = await promisify(execFile)('find', [directory.path, '-type', 'f', '-perm', '/077']);
    expect(listing.stdout).toBe('');
  });

  test('a port that is taken is named, with what to do about it', async () => {
    using other = temporaryDirectory();
    const port = new URL(serving.ready.apiOrigin).port;
    const second = await runHeadgate(['serve', '--api-port', port, '--console-port', '0'], {
      dataDir: other.path,
    });
    expect(second).toMatchObject({ code: 4, stdout: '' });
    expect(second.stderr).toContain(`headgate: port ${port} is taken`);
    expect(second.stderr).toContain('--api-port');
  });

  test('commands beside it see what it serves', async () => {
    const [keys, channels] = await Promise.all(
      ['keys', 'channels'].map((what) => runHeadgate([what, 'list', '--json'], options)),
    );
    expect(JSON.parse(keys?.stdout ?? '')).toHaveProperty('keys.length', 3);
    expect(JSON.parse(channels?.stdout ?? '')).toHaveProperty('channels.length', 3);
  });
});

test('a console port that is taken ends the start as well, though the API listens already', async () => {
  using directory = temporaryDirectory();
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const address = occupant.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const result = await runHeadgate(['serve', '--api-port', '0', '--console-port', port], {
    dataDir: directory.path,
  });
  occupant.close();
  expect(result.code).toBe(4);
  expect(result.stderr).toContain(`port ${port} is taken`);
});

test('a gateway that cannot say that it is ready stops', async () => {
  using directory = temporaryDirectory();
  const readyFile = join(directory.path, 'missing', 'ready.json');
  const result = await runHeadgate(
    ['serve', '--api-port', '0', '--console-port', '0', '--ready-file', readyFile],
    { dataDir: directory.path },
  );
  expect(result).toMatchObject({ code: 4, stdout: '' });
  expect(result.stderr).toContain(readyFile);
});

test('a second start on the same data gives the same keys and keeps what was used', async () => {
  using directory = temporaryDirectory();
  const options = { dataDir: directory.path };
  const first = await serveHeadgate(options);
  const body = JSON.stringify({ model: 'demo-fast', messages: [{ role: 'user', content: 'Hello.' }] });
  const headers = {
    authorization: `Bearer ${first.ready.keys.completions}`,
    'content-type': 'application/json',
  };
  await (
    await fetch(`${first.ready.apiOrigin}/v1/chat/completions`, { method: 'POST', headers, body })
  ).text();
  first.process.signal('SIGTERM');
  expect(await first.process.ended).toEqual({ code: 0, signal: null });

  await using second = await serveHeadgate(options);
  expect(second.ready.keys).toEqual(first.ready.keys);
  const usage = await fetch(`${second.ready.apiOrigin}/v1/usage`, { headers });
  expect(await usage.json()).toMatchObject({ data: [{ status: 'complete' }] });
});

test('credentials in the environment make real channels in the place of simulated ones', async () => {
  using directory = temporaryDirectory();
  const options = { dataDir: directory.path, environment: { OPENAI_API_KEY: 'sk-not-a-real-one' } };
  await using serving = await serveHeadgate(options);
  expect(serving.process.stdout).toContain('Real channels from OPENAI_API_KEY');
  expect(serving.process.stdout).not.toContain('SIMULATED');
  expect(serving.process.stdout + serving.process.stderr).not.toContain('sk-not-a-real-one');
  const list = await fetch(`${serving.ready.apiOrigin}/v1/models`, {
    headers: { authorization: `Bearer ${serving.ready.keys.completions}` },
  });
  const { data } = (await list.json()) as { readonly data: readonly { readonly id: string }[] };
  const ids = data.map(({ id }) => id);
  expect(ids).toContain('gpt-5-mini');
  expect(ids.filter((id) => id.startsWith('demo-'))).toEqual([]);
});

test('a configuration with mistakes is refused whole, each with its line and column', async () => {
  using directory = temporaryDirectory();
  const text =
    'channels:\n  one:\n    provider: openai\n    models: 7\n  two:\n    provider: nobody\n    models: [a]\n';
  writeFileSync(join(directory.path, 'headgate.yaml'), text);
  const result = await runHeadgate(['serve'], { dataDir: directory.path });
  expect(result).toMatchObject({ code: 3, stdout: '' });
  expect(result.stderr).toMatch(/headgate\.yaml:4:13/);
});

test.each([
  [['serve', '--api-prot', '1'], 2, 'did you mean --api-port'],
  [['serve', '--api-port', 'many'], 3, '--api-port'],
  [['sevre'], 2, 'did you mean "serve"'],
  [['serve', '--config', 'nowhere.yaml'], 3, 'nowhere.yaml'],
])('%j ends with %i and says why', async (words, code, reason) => {
  using directory = temporaryDirectory();
  const result = await runHeadgate(words, { dataDir: directory.path });
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).toContain(reason);
});

test('--help lists commands, and the settings of serve with their defaults', async () => {
  using directory = temporaryDirectory();
  const [overview, serve] = await Promise.all(
    [['--help'], ['serve', '--help']].map((words) => runHeadgate(words, { dataDir: directory.path })),
  );
  expect(overview).toMatchObject({ code: 0, stderr: '' });
  expect(overview?.stdout).toContain('keys create');
  expect(serve?.stdout).toMatch(/--api-port .*\(8080\)/s);
  expect(serve?.stdout).toContain('HEADGATE_API_PORT');
});

/** A call as a banner shows it. */
interface PrintedCall {
  readonly commandText: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The `curl` commands of a banner, with the lines they go on over. */
function callsIn(banner: string): readonly PrintedCall[] {
  return [...banner.matchAll(/^ *curl (?:.*\\\n)*.*$/gm)].map(([commandText]) => ({
    commandText,
    url: /http:[^\s']+/.exec(commandText)?.[0] ?? '',
    headers: Object.fromEntries(
      [...commandText.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
    ),
    body: /-d '([^']+)'/.exec(commandText)?.[1] ?? null,
  }));
}

/** Pastes a printed call into a shell; on a machine without curl, sends the same request. */
async function perform({ commandText, url, headers, body }: PrintedCall): Promise<string> {
  try {
    const script = `command -v curl >/dev/null || exit 127\n${commandText.replace('curl', 'curl --fail')}`;
    return (await promisify(execFile)('sh', ['-c', script])).stdout;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 127;
    if (!isMissing) throw error;
    const answer = await fetch(url, { method: 'POST', headers, body });
    const completion = z.object({
      choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]),
    });
    return `${completion.parse(await answer.json()).choices[0].message.content}\n`;
  }
}
