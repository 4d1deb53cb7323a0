import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { environmentOf } from '../../config.ts';
import { SecretCommand, Turnstile } from './secret-command.ts';

const now = () => 0;
const nothing = environmentOf({});

function commandOf(script: string, turnstile = new Turnstile(4)): SecretCommand {
  return new SecretCommand({ words: [process.execPath, '-e', script], refreshMs: null }, nothing, turnstile);
}

async function readingOf(script: string) {
  const command = commandOf(script);
  await command.runIfDue(now);
  return command.reading;
}

test('what a program prints is the secret, without the end of its line', async () => {
  expect(await readingOf("console.log('sk-one')")).toEqual({ ok: true, value: 'sk-one' });
});

test.each([
  ["console.error('sk-secret'); process.exit(3)", 'failed with exit code 3'],
  ["console.log('sk-secret'); process.exit(3)", 'failed with exit code 3'],
  ['', 'prints what is empty'],
  ["console.log('sk-secret\\n\\nx')", 'prints what has more than one line'],
  ["console.log('x'.repeat(70000))", 'prints more than 64 KiB'],
  ["process.kill(process.pid, 'SIGTERM')", 'was ended by SIGTERM'],
])('%j gives no secret, and says why without it', async (script, error) => {
  expect(await readingOf(script)).toEqual({ ok: false, error });
});

test('a program is given the usual variables and those that are named for it, and nothing else of ours', async () => {
  const environment = environmentOf({
    PATH: process.env['PATH'],
    HOME: '/home/x',
    VAULT_ADDR: 'https://vault',
    HEADGATE_PEPPER: 'secret',
    OPENAI_API_KEY: 'sk-other',
  });
  const script =
    "console.log(['PATH','HOME','VAULT_ADDR','HEADGATE_PEPPER','OPENAI_API_KEY'].filter((name) => name in process.env).join())";
  const printed = async (variables?: readonly string[]) => {
    const program = { words: [process.execPath, '-e', script], refreshMs: null };
    const given = variables === undefined ? program : { ...program, variables };
    const command = new SecretCommand(given, environment, new Turnstile(1));
    await command.runIfDue(now);
    return command.reading;
  };
  expect(await printed()).toEqual({ ok: true, value: 'PATH,HOME' });
  expect(await printed(['VAULT_ADDR'])).toEqual({ ok: true, value: 'PATH,HOME,VAULT_ADDR' });
});

test('a program that does not end is ended after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const command = commandOf("console.log('sk-one'); setInterval(() => {}, 1000)");
    const run = command.runIfDue(now);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    vi.advanceTimersByTime(10_000);
    await run;
    expect(command.reading).toEqual({ ok: false, error: 'has not ended within 10 s' });
  } finally {
    vi.useRealTimers();
  }
});

test('a program that is not there is no secret either, and nothing of it reaches a shell', async () => {
  for (const [program, code] of [
    ['headgate-no-such-program; true', 'ENOENT'],
    ['with\0nothing', 'ERR_INVALID_ARG_VALUE'],
  ] as const) {
    const command = new SecretCommand({ words: [program], refreshMs: null }, nothing, new Turnstile(1));
    await command.runIfDue(now);
    expect(command.reading).toEqual({ ok: false, error: `cannot be started (${code})` });
  }
});

test('a run that fails leaves the secret of the one before, and is tried again later and later', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-command-'));
  const path = join(directory, 'ran');
  const runs: number[] = [];
  let nowMs = 0;
  const script = `const fs = require('fs'); if (fs.existsSync(${JSON.stringify(path)})) process.exit(1);
    fs.writeFileSync(${JSON.stringify(path)}, ''); console.log('sk-first')`;
  const command = new SecretCommand(
    { words: [process.execPath, '-e', script], refreshMs: 60_000 },
    nothing,
    new Turnstile(1),
  );
  for (; nowMs <= 130_000; nowMs += 5000) {
    command.failure = 'unasked';
    await command.runIfDue(() => nowMs);
    if (command.failure !== 'unasked') runs.push(nowMs);
  }
  expect(existsSync(path)).toBe(true);
  expect(runs).toEqual([0, 60_000, 70_000, 90_000, 130_000]);
  expect(command.reading).toEqual({ ok: true, value: 'sk-first' });
  rmSync(directory, { recursive: true });
});

test('few run at once', async () => {
  const turnstile = new Turnstile(2);
  let [running, most] = [0, 0];
  const work = async () => {
    running++;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  await Promise.all(Array.from({ length: 9 }, () => turnstile.pass(work)));
  expect([running, most]).toEqual([0, 2]);
});

test('one that is closed leaves nothing behind that runs', async () => {
  const command = commandOf('setInterval(() => {}, 1000)');
  const run = command.runIfDue(now);
  await new Promise((resolve) => setImmediate(resolve));
  command.close();
  await run;
  expect(command.reading).toEqual({ ok: false, error: 'was ended by SIGKILL' });
});

test('one that waits for its turn when it is closed does not run any more', async () => {
  const turnstile = new Turnstile(1);
  const open = Promise.withResolvers<void>();
  const before = turnstile.pass(() => open.promise);
  const command = commandOf("console.log('sk-late')", turnstile);
  const run = command.runIfDue(now);
  command.close();
  open.resolve();
  await Promise.all([before, run]);
  expect(command.reading).toEqual({ ok: false, error: 'is not used any more' });
});

test.skipIf(process.platform === 'win32')(
  'one that fails leaves nothing behind that it started',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'headgate-command-'));
    const path = join(directory, 'id');
    // What it started holds its output open, and would go on for an hour.
    const script = `const { pid } = require('child_process').spawn('sleep', ['3600'], { stdio: 'inherit' });
    require('fs').writeFileSync(${JSON.stringify(path)}, String(pid)); process.exit(3)`;
    expect(await readingOf(script)).toEqual({ ok: false, error: 'failed with exit code 3' });
    const id = Number(readFileSync(path, 'utf8'));
    await expect.poll(() => isThere(id)).toBe(false);
    rmSync(directory, { recursive: true });
  },
);

/** One that has ended and that nobody has asked after is not there. */
function isThere(id: number): boolean {
  try {
    process.kill(id, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));
  } catch {
    return false;
  }
}
