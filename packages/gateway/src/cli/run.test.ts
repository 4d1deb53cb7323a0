import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isWellFormedKey } from '../catalogue/key.ts';
import { environmentOf } from '../config.ts';
import { exitCodes } from './command.ts';
import { runCommandLine } from './run.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-cli-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function headgate(
  line: string,
  variables: Readonly<Record<string, string>> = {},
  onOutput: () => void = () => undefined,
  input = '',
  stopping = () => AbortSignal.abort(),
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(line.split(' '), {
    environment: environmentOf(variables),
    directory,
    stopping,
    readSecret: () => Promise.resolve(succeed(input)),
    version: '1.2.3',
    output: {
      color: false,
      write: (text) => {
        out.push(text);
        onOutput();
      },
      writeError: (text) => void err.push(text),
    },
  });
  return { code, out: out.join(''), err: err.join('') };
}

function json(ran: Ran): Record<string, unknown> {
  // What a command prints with --json is an object; the tests below look at its members.
  return JSON.parse(ran.out) as Record<string, unknown>;
}

const configuration = [
  'channels: { main: { provider: openai, credentials: [{ environment: OPENAI_API_KEY }, { environment: SPARE_KEY }], headers: { x-team: house, x-token: { environment: OPENAI_API_KEY } }, proxy: { url: "http://127.0.0.1:9", user: house, password: { environment: OPENAI_API_KEY } }, timeouts: { connect: 90s, total: 5m }, drain: true, maxConcurrency: 9, models: { gpt-5-mini: { contextWindow: 32000, lacks: [tools], cost: { input: 0.2, output: 1.6, tiers: [{ aboveInputTokens: 1000, input: 0.4 }], images: [{ size: 1024x1024, quality: high, price: 0.167 }, { price: 0.02 }] } } } } }',
  'models: { gpt-5-mini: { displayName: "Mini, the", created: 2026-02-03 } }',
  'groups: { team: { platform: completions, multiplier: 1.05, models: [gpt-5-mini] }, other: { platform: native, routing: { preset: cost, channels: [main], hedging: true } } }',
  'accounts: { payer: { name: Payer } }',
  'providers: { openai: { dialect: { usageInStream: false } } }',
].join('\n');
const credentials = { OPENAI_API_KEY: 'canary-credential' };

async function configured(): Promise<void> {
  writeFileSync(join(directory, 'c.yaml'), configuration);
  expect(await headgate('import c.yaml', credentials)).toMatchObject({ code: 0, err: '' });
}

describe('the command line', () => {
  test('help of everything and of each command', async () => {
    const overview = await headgate('--help');
    expect(overview.code).toBe(0);
    for (const { code, meaning } of Object.values(exitCodes))
      expect(overview.out).toContain(`${code}  ${meaning}`);
    const names = [...overview.out.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)\b.*? {2}/gm)].map(
      ([, name = '']) => name,
    );
    expect(names.length).toBeGreaterThan(12);
    for (const name of names) {
      const help = await headgate(`${name} --help`);
      expect(help.out, name).toContain(`Usage: headgate ${name}`);
      expect(help.code).toBe(0);
    }
    expect((await headgate('serve --help')).out).toContain('--api-port N');
    expect((await headgate('--version')).out).toBe('1.2.3\n');
  });

  test.each([
    ['srve', 'there is no command "srve"; did you mean "serve"?'],
    ['keys', 'say which: headgate keys create'],
    ['keys lst', 'did you mean "keys list"?'],
    ['keys list --jsn', 'there is no option --jsn; did you mean --json?'],
    ['keys list --data-dir', '--data-dir needs a value'],
    ['keys list extra', 'write it as: headgate keys list'],
    ['keys revoke', 'write it as: headgate keys revoke ID'],
    ['keys create --no-name x', 'there is no option --no-name'],
    ['keys list --json=yes', '--json takes no value'],
    ['ledger export --format xml', '--format must be ndjson or csv'],
    ['ledger export --from yesterday', '--from and --to must be dates'],
    ['ledger export --from 1', '--from and --to must be dates'],
    ['keys rotate some --grace soon', '--grace must be a duration'],
    ['keys rotate some --grace 999999999d', '--grace must be a duration'],
    ['keys create --expires 999999999d', '--expires must be a date to come'],
    ['keys create --expires 1', '--expires must be a date to come'],
    ['keys create --expires 2020-01-01', '--expires must be a date to come'],
  ])('%s is not written correctly', async (line, message) => {
    const ran = await headgate(line);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(message);
    expect(ran.out).toBe('');
  });

  test('errors are JSON on standard output when results are', async () => {
    const ran = await headgate('keys list --json --api-port none');
    expect(ran.code).toBe(3);
    expect(json(ran)).toEqual({ errors: ['--api-port: "none" is not a whole number from 0 to 65535'] });
  });

  test('a configuration with mistakes is code 3, a store that cannot be used code 4', async () => {
    writeFileSync(join(directory, 'wrong.yaml'), 'groups: { g: {} }');
    const wrong = await headgate('import wrong.yaml');
    expect(wrong.code).toBe(3);
    expect(wrong.err).toContain('wrong.yaml:1:14: groups.g.platform: is missing');
    expect(await headgate('import nowhere.yaml')).toMatchObject({ code: 4 });
    const unfound = await headgate('serve --config nowhere.yaml');
    expect(unfound.code).toBe(3);
    expect(unfound.err).toContain('there is no such file');
    writeFileSync(join(directory, 'file'), '');
    expect(await headgate('keys list --data-dir file', { HEADGATE_PEPPER: 'p'.repeat(32) })).toMatchObject({
      code: 4,
    });
  });
});

describe('keys', () => {
  test('generate prints a key and stores nothing', async () => {
    const { out } = await headgate('keys generate');
    expect(isWellFormedKey(out.trim())).toBe(true);
  });

  test('a key is made, shown once, listed without its hash, rotated, disabled, enabled and revoked for good', async () => {
    await configured();
    expect((await headgate('keys create')).err).toContain('--group: is missing; name one of other, team');
    const created = await headgate(
      'keys create --group team --name laptop --models gpt-5-mini --expires 90d',
    );
    const key = created.out.trim();
    expect(isWellFormedKey(key)).toBe(true);
    expect(created.err).toContain('This is the only time it is shown.');
    const listed = await headgate('keys list --json');
    expect(json(listed)).toMatchObject({
      keys: [{ name: 'laptop', groupId: 'team', models: ['gpt-5-mini'], status: 'active' }],
    });
    expect(listed.out).not.toMatch(new RegExp(`hash|${key}`));
    const [{ id }] = json(listed)['keys'] as [{ id: string }];
    expect((await headgate(`keys disable ${id}`)).out).toContain('is disabled within a second');
    expect((await headgate(`keys rotate ${id}`)).code).toBe(1);
    expect((await headgate(`keys enable ${id}`)).code).toBe(0);
    const rotated = await headgate(`keys rotate ${id} --grace 1h --json`);
    expect(json(rotated)).toMatchObject({ name: 'laptop', groupId: 'team', models: ['gpt-5-mini'] });
    expect((await headgate('keys list')).out).toMatch(/ until \d{4}-.* laptop /);
    expect((await headgate(`keys revoke ${id}`)).code).toBe(0);
    const revived = await headgate(`keys enable ${id}`);
    expect(revived.code).toBe(1);
    expect(revived.err).toContain('for good');
    expect((await headgate('keys revoke key-000')).err).toContain('there is no key');
    expect((await headgate('keys create --group team --models gpt-6-mini')).err).toContain(
      'there is no model "gpt-6-mini"',
    );
  });
});

test('help at every level: of all, of a family, of a command', async () => {
  const overview = (await headgate('--help')).out;
  const names = [...overview.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)(?= )/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    const [family = ''] = name.split(' ');
    expect(await headgate(`${name} --help`)).toMatchObject({ code: 0, err: '' });
    for (const line of [`${family} --help`, `${family} -h`, `help ${family}`]) {
      const { code, out } = await headgate(line);
      expect([line, code]).toEqual([line, 0]);
      expect(out).toContain(name);
    }
  }
});

describe('apply', () => {
  const house = (count: number) =>
    [
      'channels:',
      ...Array.from({ length: count }, (_, n) => `  c${n}: { provider: openai, models: [gpt-5-mini] }`),
    ].join('\n');

  test('applies the file, and one that removes most of it only when that is said', async () => {
    expect((await headgate('apply')).err).toContain('name one with --config');
    writeFileSync(join(directory, 'headgate.yaml'), house(3));
    expect((await headgate('apply', credentials)).out).toContain('added');
    writeFileSync(join(directory, 'headgate.yaml'), house(1));
    const withheld = await headgate('apply', credentials);
    expect(withheld).toMatchObject({ code: 1, out: '' });
    expect(withheld.err).toMatch(/would remove 2 of 3 channels; if it is meant: headgate apply --force/);
    expect((await headgate('doctor --no-network', credentials)).out).toMatch(
      /would remove 2\s+of 3 channels/,
    );
    expect((await headgate('channels list', credentials)).out).toContain('c2');
    expect((await headgate('apply --force', credentials)).out).toMatch(/c2 +removed/);
    expect((await headgate('channels list', credentials)).out).not.toContain('c2');
    expect((await headgate('apply', credentials)).out).toBe('Nothing has changed.\n');
    // A shell has other variables than the gateway: what they are must not decide what is declared.
    expect((await headgate('apply')).out).toBe('Nothing has changed.\n');
    writeFileSync(join(directory, 'headgate.yaml'), 'channels: { c0: { provider: nobody, models: [m] } }');
    expect(await headgate('apply')).toMatchObject({ code: 3, out: '' });
  });
});

describe('import and export', () => {
  test('what is exported declares the same again, and exports the same', async () => {
    await configured();
    await headgate('keys create --group team --name a --expires 2030-01-01');
    const exported = (await headgate('export', credentials)).out;
    expect(exported).not.toContain('canary');
    for (const words of [
      'quality: high',
      'SPARE_KEY',
      'drain: true',
      'maxConcurrency: 9',
      '- tools',
      'preset: cost',
    ])
      expect(exported).toContain(words);
    writeFileSync(join(directory, 'exported.yaml'), exported);
    const elsewhere = await headgate('import exported.yaml --data-dir elsewhere', credentials);
    expect(elsewhere).toMatchObject({ code: 3, out: '' });
    expect(elsewhere.err).toContain('were made under another pepper');
    mkdirSync(join(directory, 'second'));
    copyFileSync(join(directory, 'data', 'pepper'), join(directory, 'second', 'pepper'));
    const second = await headgate('import exported.yaml --data-dir second', credentials);
    expect(second).toMatchObject({ code: 0, err: '' });
    expect((await headgate('export --data-dir second')).out).toBe(exported);
    expect((await headgate('models list --wide --data-dir second')).out).toMatch(
      /gpt-5-mini +Mini, the .* 0\.25 +2\.00 .* main/,
    );
  });

  test('a rotated key goes along until its grace is over, and a revoked one never comes back', async () => {
    await configured();
    const old = json(await headgate('keys create --group team --name a --json'));
    const successor = json(await headgate(`keys rotate ${old['id']} --grace 2h --json`));
    const revoked = json(await headgate('keys create --group team --name b --json'));
    const before = (await headgate('export', credentials)).out;
    await headgate(`keys revoke ${revoked['id']}`);
    const exported = (await headgate('export', credentials)).out;
    for (const { id } of [old, successor]) expect(exported).toContain(`${id}:`);
    expect(exported).not.toContain(`${revoked['id']}:`);
    const renamed = before.replaceAll(`${revoked['id']}:`, 'back-again:');
    const ids = renamed.replaceAll(`${old['id']}:`, 'old:').replaceAll(`${successor['id']}:`, 'new:');
    writeFileSync(join(directory, 'renamed.yaml'), ids);
    const imported = await headgate('import renamed.yaml --json', credentials);
    expect(json(imported)['changes']).toContainEqual({ kind: 'key', id: 'back-again', change: 'refused' });
    expect((await headgate('keys list')).out).not.toContain('back-again');
  });

  test('importing the same again changes nothing', async () => {
    await configured();
    expect((await headgate('import c.yaml', credentials)).out).toBe('Nothing has changed.\n');
  });
});

describe('lists and checks', () => {
  test('an empty store says so', async () => {
    expect((await headgate('keys list')).out).toBe('There are no keys yet.\n');
    expect((await headgate('channels list')).out).toBe('There are no channels yet.\n');
    expect((await headgate('models list --json')).out).toBe('{"models":[]}\n');
    expect((await headgate('ledger export')).out).toBe('');
    expect((await headgate('ledger export --format csv')).out).toMatch(/^trace_id,started_at,status,.*\n$/);
    expect((await headgate('ledger verify')).out).toContain('sound: 0 calls');
  });

  test('channels are looked at again and again until that is stopped', async () => {
    await configured();
    const stop = new AbortController();
    const changes: Promise<Ran>[] = [];
    const change = () => {
      if (changes.length > 0) return stop.abort();
      writeFileSync(
        join(directory, 'c.yaml'),
        configuration.replace('{ main:', '{ second: { provider: openai, models: [gpt-5-mini] }, main:'),
      );
      changes.push(headgate('import c.yaml', credentials));
    };
    const { code, out } = await headgate('channels list --watch', credentials, change, '', () => stop.signal);
    expect(code).toBe(0);
    expect(await changes[0]).toMatchObject({ code: 0 });
    const [, first, second] = out.split('STATE');
    expect(first).not.toContain('second');
    expect(second).toContain('second');
  });

  test('channels show what keeps them from working, and never a secret', async () => {
    await configured();
    const listWith = (more: object) => headgate('channels list --json', { ...credentials, ...more });
    const problem = 'the variable SPARE_KEY is not set';
    const whole = { id: 'main', enabled: true, models: 1, problem: null };
    const working = await listWith({ SPARE_KEY: 'canary-spare' });
    expect(json(working)).toMatchObject({ channels: [whole] });
    expect(working.out).not.toContain('canary');
    expect(json(await listWith({}))).toMatchObject({ channels: [{ ...whole, problem }] });
    expect((await headgate('channels list')).out).toMatch(
      /^off +main .*\n {2}the variable OPENAI_API_KEY is not set/m,
    );
    expect(await headgate('channels test nobody')).toMatchObject({ code: 2 });
  });

  test('doctor finds what is missing and says it with its code', async () => {
    const healthy = await headgate('doctor --no-network --api-port 0 --console-port 0');
    expect(healthy).toMatchObject({ code: 0, err: '' });
    await configured();
    const ailing = await headgate('doctor --no-network --api-port 0 --console-port 0 --json');
    expect(ailing.code).toBe(1);
    expect(json(ailing)['diagnoses']).toContainEqual({
      check: 'main',
      state: 'bad',
      detail: 'the variable OPENAI_API_KEY is not set',
    });
    writeFileSync(join(directory, 'headgate.yaml'), 'channels: { a: { provider: opnai, models: [m] } }');
    expect((await headgate('doctor --no-network --api-port 0 --console-port 0')).out).toContain(
      'did you mean "openai"?',
    );
    writeFileSync(join(directory, 'headgate.yaml'), 'channels: { a: [');
    const broken = await headgate('doctor --json');
    expect(broken).toMatchObject({ code: 1, err: '' });
    expect(json(broken)['diagnoses']).toContainEqual(
      expect.objectContaining({ check: 'configuration file', state: 'bad' }),
    );
  });

  test('doctor reads the file before the first start, and tries the credentials', async () => {
    const base = 'baseUrl: "http://127.0.0.1:1/v1", protocols: { chat-completions: /chat }';
    const text = `providers: { p: { name: P, ${base}, credential: { scheme: bearer } } }\nchannels: { far-away: { provider: p, allowPrivate: true, credential: { environment: FAR_KEY }, models: { m: {} } } }\nprices: { m: { input: 1, output: 1 } }`;
    writeFileSync(join(directory, 'headgate.yaml'), text);
    const ports = '--api-port 0 --console-port 0';
    const without = json(await headgate(`doctor --no-network ${ports} --json`));
    expect(without['diagnoses']).toContainEqual({
      check: 'far-away',
      state: 'bad',
      detail: 'the variable FAR_KEY is not set',
    });
    const tried = await headgate(`doctor ${ports}`, { FAR_KEY: 'canary' });
    expect(tried.code).toBe(1);
    expect(tried.out).toContain('nobody listens there');
    expect(tried.out).not.toContain('canary');
    expect(Math.max(...tried.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await headgate(`doctor --no-network ${ports}`, { FAR_KEY: 'canary' })).toMatchObject({ code: 0 });
  });
});

describe('credentials', () => {
  const withInput = (line: string, input: string) => headgate(line, {}, () => undefined, input);

  test('are kept in the store, exchanged and taken away, and never shown', async () => {
    await configured();
    const added = await withInput('credentials add main --name spare --json', 'canary-stored\n');
    expect(added).toMatchObject({ code: 0, err: '' });
    const { id } = json(added) as { id: string };
    const listed = await headgate('credentials list --json', credentials);
    expect(json(listed)).toEqual({
      credentials: [
        {
          channel: 'main',
          credential: 'OPENAI_API_KEY',
          name: null,
          kept: 'environment',
          problem: null,
          since: null,
        },
        {
          channel: 'main',
          credential: 'SPARE_KEY',
          name: null,
          kept: 'environment',
          problem: 'the variable SPARE_KEY is not set',
          since: null,
        },
        {
          channel: 'main',
          credential: id,
          name: 'spare',
          kept: 'store',
          problem: null,
          since: expect.any(String) as string,
        },
      ],
    });
    const channels = await headgate('channels list --json', credentials);
    expect(json(channels)).toMatchObject({ channels: [{ credentials: ['OPENAI_API_KEY', id] }] });
    expect(await withInput(`credentials rotate ${id}`, 'canary-rotated')).toMatchObject({ code: 0, err: '' });
    const exported = await headgate('export');
    expect(await headgate(`credentials remove ${id}`)).toMatchObject({ code: 0, err: '' });
    expect((await headgate('credentials list')).out).not.toContain(id);
    for (const { out, err } of [added, listed, channels, exported]) expect(out + err).not.toContain('canary');
    expect(exported.out).not.toContain(id);
  });

  test.each([
    ['add nobody', 'canary-x', 'there is no channel "nobody"'],
    ['add main', '', 'the secret is empty'],
    ['add main', 'canary-one\ncanary-two', 'the secret has more than one line'],
    ['rotate cred-none', 'canary-x', 'the store has no credential "cred-none"'],
    ['remove cred-none', '', 'the store has no credential "cred-none"'],
  ])('%s says what is wrong, without the secret', async (line, input, reason) => {
    await configured();
    const ran = await withInput(`credentials ${line}`, input);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(reason);
    expect(ran.err).not.toContain('canary');
  });

  test('that follow from the provider are listed too', async () => {
    writeFileSync(
      join(directory, 'headgate.yaml'),
      'channels: { a: { provider: openai, models: [m] }, b: { provider: deepseek, models: [m] } }',
    );
    await headgate('apply');
    const { credentials: listed } = json(await headgate('credentials list --json', credentials));
    expect(listed).toMatchObject([
      { channel: 'a', credential: 'OPENAI_API_KEY', kept: 'environment', problem: null },
      {
        channel: 'b',
        credential: null,
        problem: expect.stringContaining('headgate credentials add b') as string,
      },
    ]);
  });
});

// A thread takes as long to start as all the rest of a command: `spend` took 0.8 s of CPU with two, and takes 0.35.
test('commands that read the ledger start no thread', async () => {
  const threads: unknown[] = [];
  const note = (thread: unknown) => void threads.push(thread);
  process.on('worker', note);
  try {
    for (const line of ['spend', 'calls list', 'ledger verify', 'ledger export', 'doctor --no-network']) {
      const { err } = await headgate(line);
      expect.soft({ line, err, threads: threads.length }).toEqual({ line, err: '', threads: 0 });
    }
  } finally {
    process.off('worker', note);
  }
});

// A query holds the thread that would hear of the signal, so a command that could do nothing about it leaves it to the system.
test('commands that do not go on until they are told to stop ask for no signal', async () => {
  const asks: string[] = [];
  for (const line of ['spend', 'ledger verify', 'channels list', 'calls tail', 'channels list --watch'])
    await headgate(line, {}, undefined, '', () => {
      asks.push(line);
      return AbortSignal.abort();
    });
  expect(asks).toEqual(['calls tail', 'channels list --watch']);
});

test('newer facts about models are taken in from a file, and change what is listed', async () => {
  const refreshed = (): Promise<Ran> => headgate('models refresh openai.json');
  expect(await refreshed()).toMatchObject({ code: exitCodes.unavailable.code });
  const model = { name: 'Five', reasoning: { mode: 'none' }, contextWindow: 77_777 };
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const file = {
    asOf: tomorrow,
    vendor: true,
    providers: ['openai'],
    sources: {},
    models: { 'gpt-5-mini': model },
  };
  writeFileSync(join(directory, 'openai.json'), JSON.stringify({ ...file, asOf: 'soon' }));
  const refused = await refreshed();
  expect(refused.code).toBe(exitCodes.configuration.code);
  expect(refused.err).toContain('asOf');
  writeFileSync(join(directory, 'openai.json'), JSON.stringify(file));
  expect((await headgate('models refresh openai.json --dry-run')).out).toContain('~ gpt-5-mini: ');
  expect(existsSync(join(directory, 'data'))).toBe(false);
  expect((await refreshed()).out).toContain(`openai: of ${tomorrow}, `);
  expect((await refreshed()).out).toContain('not newer');
  writeFileSync(
    join(directory, 'headgate.yaml'),
    'channels: { main: { provider: openai, models: [gpt-5-mini] } }',
  );
  await headgate('import headgate.yaml', { OPENAI_API_KEY: 'canary' });
  expect((await headgate('models list --wide', { OPENAI_API_KEY: 'canary' })).out).toContain('77,777');
});

describe('serve', () => {
  test('starts, writes the ready file and the banner, tests its own channels, and stops when asked', async () => {
    const readyFile = join(directory, 'ready.json');
    let ready: unknown;
    const ran = await headgate(
      'serve --api-port 0 --console-port 0 --log-level error',
      { HEADGATE_READY_FILE: readyFile },
      () => {
        ready = JSON.parse(readFileSync(readyFile, 'utf8'));
      },
    );
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('SIMULATED');
    expect(ready).toMatchObject({ models: { completions: 'demo-fast' } });
    expect(existsSync(readyFile)).toBe(false);
    const tested = await headgate('channels test simulated-a --model demo-fast');
    expect(tested.out).toMatch(/works +simulated-a +\S+ +200 +\d+/);
    expect(tested.code).toBe(0);
  });

  test('a start that fails leaves no ready file of an earlier one', async () => {
    const readyFile = join(directory, 'ready.json');
    writeFileSync(readyFile, '{}');
    writeFileSync(join(directory, 'file'), '');
    const ran = await headgate(`serve --data-dir file --ready-file ${readyFile}`);
    expect(ran.code).toBe(4);
    expect(existsSync(readyFile)).toBe(false);
  });

  test.each(['', ' --json'])('a failure of the machine is told in one line (serve%s)', async (option) => {
    writeFileSync(join(directory, 'file'), '');
    const ran = await headgate(`serve --data-dir file/below --api-port 0 --console-port 0${option}`);
    expect(ran.code).toBe(4);
    expect(ran.out + ran.err).toMatch(/^.*ENOTDIR.*\n$/);
  });
});
