import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { historyTag } from '../packages/gateway/src/admin/demo-history.ts';
import { runCommand, serveHeadgate, temporaryDirectory } from './support/process.ts';

interface StatusDocument {
  readonly state: string;
  readonly deployment: { readonly simulated: boolean };
  readonly models: readonly { readonly days: readonly { readonly share: number | null }[] }[];
  readonly incidents: readonly { readonly title: string; readonly resolvedAt: string | null }[];
}

async function statusOf(consoleOrigin: string): Promise<StatusDocument> {
  const answer = await fetch(`${consoleOrigin}/status.json`);
  // Its shape is what this test holds.
  return (await answer.json()) as StatusDocument;
}

async function callsIn(dataDir: string): Promise<{ readonly sound: boolean; readonly calls: number }> {
  const { stdout, code } = await runCommand(['ledger', 'verify'], { dataDir });
  return { sound: code === 0, calls: Number(/(\d+) calls/.exec(stdout)?.[1] ?? 0) };
}

test('a new demo has two weeks of simulated calls, a sound ledger and a status page with incidents, and fills them once', async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  const environment = { HEADGATE_DEMO_HISTORY: 'true' };
  let calls = 0;
  {
    await using serving = await serveHeadgate({ dataDir, environment });
    const { consoleOrigin } = serving.ready;
    await expect
      .poll(async () => (await statusOf(consoleOrigin)).incidents.length, { timeout: 20_000 })
      .toBe(2);
    const status = await statusOf(consoleOrigin);
    expect(status.deployment.simulated).toBe(true);
    expect(status.incidents.map(({ title }) => title)).toEqual([
      'Partial outage: demo-smart',
      'Outage: Simulated B',
    ]);
    for (const { days } of status.models)
      expect(days.filter(({ share }) => share !== null).length).toBeGreaterThanOrEqual(14);
    // Every page has something to show: alerts that are over, and failures of the last day.
    const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
    const ask = async (path: string): Promise<string> =>
      (
        await fetch(`${consoleOrigin}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
      ).text();
    await expect
      .poll(() => ask('/events'), { timeout: 10_000 })
      .toMatch(/channel-out-of-service[\s\S]*simulated/);
    const failures = await Promise.all(
      ['simulated-a', 'simulated-b', 'simulated-c'].map((id) => ask(`/channels/${id}/failures`)),
    );
    expect(failures.join()).toContain('"simulated"');
    const found = await callsIn(dataDir);
    expect(found.sound).toBe(true);
    expect(found.calls).toBeGreaterThan(3_000);
    const { stdout } = await runCommand(['calls', 'list', '--json', '--limit', '200', '--since', '14d'], {
      dataDir,
    });
    const tags = [...stdout.matchAll(/"tag":\s*"([^"]*)"/g)].map(([, tag]) => tag);
    expect(tags.length).toBeGreaterThan(100);
    expect(new Set(tags)).toEqual(new Set([historyTag]));
    calls = found.calls;
  }
  await using again = await serveHeadgate({ dataDir, environment });
  await fetch(`${again.ready.consoleOrigin}/status.json`);
  expect(await callsIn(dataDir)).toEqual({ sound: true, calls });
});

test('--no-demo-history leaves it out', async () => {
  using directory = temporaryDirectory();
  await using serving = await serveHeadgate({
    dataDir: directory.path,
    environment: { HEADGATE_DEMO_HISTORY: 'true' },
    flags: ['--no-demo-history'],
  });
  expect((await statusOf(serving.ready.consoleOrigin)).incidents).toEqual([]);
  expect(await callsIn(directory.path)).toEqual({ sound: true, calls: 0 });
});
