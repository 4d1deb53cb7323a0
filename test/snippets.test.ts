import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { snippetsFor } from '../packages/console/src/pages/keys/snippets.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=3' } }],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const platforms = ['completions', 'messages', 'native'] as const;

function snippetsOf(platform: (typeof platforms)[number]) {
  return snippetsFor(platform, {
    ...{ origin: gateway.apiOrigin, secret: gateway.keys[platform], model: 'demo' },
  });
}

/** Runs a command beside the checkout's packages, and gives all that it wrote. */
function run(command: string, words: readonly string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(command, words, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

test.each(platforms)('what is shown beside a %s key to be pasted works as it is', async (platform) => {
  const snippets = snippetsOf(platform);
  expect(snippets.length).toBeGreaterThan(3);
  for (const { id, code } of snippets) {
    expect(code).not.toMatch(/\{(origin|secret|model)\}/);
    expect(code).toContain(gateway.apiOrigin);
    if (id.startsWith('curl')) expect(await run('sh', ['-c', code])).toMatchObject(spoken);
    if (id !== 'typescript') continue;
    const file = join(import.meta.dirname, `.snippet-${platform}.mjs`);
    writeFileSync(file, code);
    try {
      expect(await run(process.execPath, [file])).toMatchObject(spoken);
    } finally {
      rmSync(file);
    }
  }
});

/** Words of the simulator, in whatever frames, and no refusal, which a command would print as well. */
const spoken = { code: 0, out: expect.stringMatching(/^(?!.*"error":\s*\{).*\w/s) as string };
