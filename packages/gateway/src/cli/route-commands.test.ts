import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { sampleAttempt, sampleEntry, settle } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

const longId = 'resale-eu-west-1-with-a-name-that-is-longer-than-any-column';
const configuration = `
channels:
  main: { provider: openai, models: { gpt-5-mini: { cost: { input: 0.30, output: 2.0 } } } }
  ${longId}: { provider: openai, models: { gpt-5-mini: { cost: { input: 0.24, output: 1.9 } } } }
  off: { provider: openai, enabled: false, models: [gpt-5-mini, other] }
models: { gpt-5-mini: {}, other: {} }
prices: { gpt-5-mini: { input: 0.3, output: 2.4 }, other: { input: 1, output: 2 } }
groups: { team: { platform: completions, models: [gpt-5-mini] } }
accounts: { payer: { name: Payer } }
`;
const credential = 'canary-credential';
const call = sampleEntry({
  route:
    '[[0,"score","main",2,["main","m",0,1240000,9970,6000,"spare","m",0,1300000,9000,4000],["open",9,["dead"]]],' +
    '[1,"nothing",null,0,[],["tried",1,["main"]]]]',
  attempts: [
    sampleAttempt({ channelId: 'main', result: 'timed_out', detail: 'first-content', httpStatus: null }),
  ],
});
let directory = '';

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-route-'));
  writeFileSync(join(directory, 'c.yaml'), configuration);
  expect(await headgate('import c.yaml')).toMatchObject({ code: 0, err: '' });
  await headgate('keys create --group team --name laptop');
  const store = await openSqliteStore({
    file: join(directory, 'data', 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => 0, monotonic: () => 0 },
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  expect(await settle(store.ledger, call)).toBe('settled');
  await store.close();
});
afterAll(() => rmSync(directory, { recursive: true }));

async function headgate(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(line.split(' '), {
    environment: environmentOf({ OPENAI_API_KEY: credential }),
    directory,
    stopping: () => AbortSignal.abort(),
    readSecret: () => Promise.resolve(succeed('')),
    version: '1.2.3',
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

test('a dry run says where a call would go and why, in columns that a long id does not move', async () => {
  const { code, out } = await headgate('route explain --key laptop --model gpt-5-mini');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^gpt-5-mini for laptop \(key-\w+\) of group team\nchat-completions, streamed, 1,000 tokens in\n/,
  );
  expect(out).toContain('goes to ');
  const lines = out.split('\n');
  const title = lines.find((line) => line.endsWith('CHANNEL') && line.includes('SHARE')) ?? '';
  const place = title.indexOf('CHANNEL');
  expect(title).toMatch(/^ +SHARE +COST +PRICE +WAIT +FAILURE +ANSWERS +CHANNEL$/);
  expect(place).toBeLessThan(60);
  const rows = lines.filter((line) => line.includes(' 97.0 %'));
  expect(rows.map((row) => row.slice(place))).toEqual([longId, 'main']);
  expect(out).toMatch(/off, or cannot take such a call +– +off\n/);
  expect(out).not.toContain(credential);
});

test('as JSON it has every part, and the parts add up', async () => {
  const { out } = await headgate(
    'route explain --key laptop --model gpt-5-mini --no-stream --max-tokens 50 --json',
  );
  const explained: unknown = JSON.parse(out);
  expect(explained).toMatchObject({
    key: { name: 'laptop' },
    group: 'team',
    preset: 'balanced',
    surface: 'chat-completions',
    stream: false,
    inputTokens: 1000,
    maxOutputTokens: 50,
    candidates: [{ channel: longId, tier: 0, parts: { pricePicoUsd: 335_000_000 } }, { channel: 'main' }],
    exclusions: [{ channel: 'off', reason: 'disabled', until: null }],
    warnings: [],
    stateSavedAt: null,
  });
});

test('a cost that is not known is marked, and so is what is assumed of it', async () => {
  writeFileSync(
    join(directory, 'unknown.yaml'),
    `${configuration.replace('other: {} }', 'other: {}, unheard-of: {} }').replace('models: [gpt-5-mini]', 'models: [gpt-5-mini, unheard-of]')}`.replace(
      'channels:\n',
      `channels:
  cheap: { provider: openai, models: { unheard-of: { cost: { input: 1, output: 2 } } } }
  guess: { provider: openai, models: [unheard-of] }
`,
    ),
  );
  const place = '--data-dir unknown';
  expect(await headgate(`import unknown.yaml ${place}`)).toMatchObject({ code: 0 });
  await headgate(`keys create --group team --name laptop ${place}`);
  const { out } = await headgate(`route explain --key laptop --model unheard-of ${place}`);
  expect(out).toMatch(/ ~[\d.,]+ .* guess: cost unknown\n/);
  expect(out).toContain('~ A cost that is not known is taken to be twice the dearest one that is.');
  expect(out).toContain('has no price, so callers are told that there is none of this name');
  const { candidates } = JSON.parse(
    (await headgate(`route explain --key laptop --model unheard-of --json ${place}`)).out,
  ) as { candidates: readonly { channel: string; costKnown: boolean }[] };
  expect(candidates.map(({ channel, costKnown }) => [channel, costKnown])).toEqual([
    ['cheap', true],
    ['guess', false],
  ]);
});

test('a past call shows its plans and its attempts', async () => {
  const { code, out } = await headgate(`route explain --trace ${call.traceId}`);
  expect(code).toBe(0);
  expect(out).toContain('Attempt 1 to main: drawn by the shares of the scores\n');
  expect(out).toMatch(/60\.0 % +1\.240 +99\.7 % +main\n/);
  expect(out).toContain('Left out: out of service after failures: dead and 8 more\n');
  expect(out).toContain(
    'Attempt 2 was not made: no channel may be asked\nLeft out since: tried by this call already: main',
  );
  expect(out).toMatch(/1 +timed_out +– +119 +890 +main: first-content\n/);
  const json = await headgate(`route explain --trace ${call.traceId} --json`);
  expect(JSON.parse(json.out)).toMatchObject({
    traceId: call.traceId,
    plans: [
      { first: 'main', candidateCount: 2 },
      { first: null, exclusions: [{ reason: 'tried' }] },
    ],
    attempts: [{ n: 1, channel: 'main', costNanoUsd: '5000000' }],
  });
  const exported = await headgate('ledger export');
  expect(JSON.parse(exported.out)).toMatchObject({
    route: [{ choice: 'score', firstChannelId: 'main' }, {}],
  });
});

test.each([
  ['', 2, '--key: is missing; --model: is missing'],
  ['--key laptop --model gpt-5-mni', 1, '--model: there is no model "gpt-5-mni"; did you mean "gpt-5-mini"?'],
  ['--key laptop --model other', 1, '--model: this key may not call "other": the group team is limited'],
  ['--key lptop --model gpt-5-mini', 1, '--key: there is no key "lptop"; did you mean "laptop"?'],
  ['--key sk-abc --model gpt-5-mini', 1, '--key: name the key by its id or name'],
  [
    '--key laptop --model gpt-5-mini --surface messages',
    1,
    '--surface: keys of the group team cannot call messages',
  ],
  ['--key laptop --model gpt-5-mini --surface mail', 2, '--surface: must be one of responses'],
  ['--key laptop --model gpt-5-mini --input-tokens many', 2, '--input-tokens: must be a whole number'],
  ['--key laptop --model gpt-5-mini --max-tokens 0', 2, '--max-tokens: must be 1 or more'],
  ['--key laptop --model gpt-5-mini --needs tools,wings', 2, '--needs: must be tools'],
  ['--key laptop --model gpt-5-mini --stream --no-stream', 2, 'not both'],
  ['--trace 00 --key laptop', 2, 'it takes no --key'],
  ['--trace 00', 1, '--trace: there is no call "00"'],
])('%s is answered by what to mend', async (options, code, message) => {
  const ran = await headgate(`route explain ${options}`.trim());
  expect(ran).toMatchObject({ code, out: '' });
  expect(ran.err).toContain(message);
  expect(ran.err).not.toContain('sk-');
});
