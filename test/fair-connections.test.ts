import { setTimeout as delay } from 'node:timers/promises';
import { type SimulatorWorker, startSimulatorWorker } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKey } from '../packages/gateway/src/admin/keys.ts';
import { type Flood, FloodProcess } from './support/flood.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';

const connections = 4;
const ratioMax = 3;
/** Below it a machine that does other things beside decides, not the gateway. */
const idleFloorMs = isSlow ? 15 : 40;
/** Calls of one measurement, and the one of a hundred of them that is looked at. */
const [calls, percentile] = isSlow ? [200, 99] : [60, 90];
/** A machine that does other things beside spoils a measurement; a gateway that is not fair spoils all of them. */
const triesMax = 6;

type Kind = Pick<Flood, 'request' | 'manner' | 'reads'>;

const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\nhost: x\r\n${fields}\r\n`;
const chat = (fields: string, body: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${fields}\r\n${body}`;
const pipelined = (request: string): Kind => ({ request, manner: 'pipelined' });
const single = (request: string): Kind => ({ request, manner: 'single' });

const nobodysKeys = ['authorization: Bearer ', 'x-api-key: ', 'x-goog-api-key: ', 'x-neutral-api-key: ']
  .map((header) => `${header}${generateKey()}\r\n`)
  .join('');
const manyFields = Array.from({ length: 60 }, (_, place) => `x-${place}: a\r\n`).join('');
const websocket = get('/v1/responses', 'connection: upgrade\r\nupgrade: websocket\r\n');

/** What an attacker without a key can say; the first two are tried in the fast form, too. */
const strangers: readonly (readonly [string, Kind])[] = [
  ['requests of eighteen bytes', pipelined('GET / HTTP/1.1\r\n\r\n')],
  ['requests of another parser', pipelined('HEAD / HTTP/1.1\r\n\r\n')],
  ['requests without a key', pipelined(get('/v1/models'))],
  ['four keys that nobody has', pipelined(get('/v1/models', nobodysKeys))],
  ['large heads', pipelined(get('/v1/models', `x: ${'a'.repeat(15_000)}\r\n`))],
  ['many fields', pipelined(get('/v1/models', manyFields))],
  ['large heads of another parser', pipelined(get('/v1/models', `x:\t${'a'.repeat(15_000)}\r\n`))],
  ['bodies that nobody wants', pipelined(chat('content-length: 100000\r\n', 'x'.repeat(100_000)))],
  [
    'chunks of one byte',
    pipelined(chat('transfer-encoding: chunked\r\n', `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)),
  ],
  [
    'chunks of one byte, of another parser',
    pipelined(chat('transfer-encoding:\tchunked\r\n', `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)),
  ],
  ['answers that are not read', { ...pipelined(get('/v1/models')), reads: false }],
  ['connections for one request each', single(get('/v1/models'))],
  ['connections for one request each, of another parser', single('HEAD / HTTP/1.1\r\n\r\n')],
  ['connections that speak no HTTP', single('\x16\x03\x01\x02\x00\x01\r\n\r\n')],
  ['upgrades', single(websocket)],
];

/** What somebody can say who has a key. */
const keyHolders: readonly (readonly [string, (key: string) => Kind])[] = [
  ['bodies that are no JSON', (key) => pipelined(chatRequest(key, '{').toString('latin1'))],
  ['lists of models', (key) => pipelined(get('/v1/models', `authorization: Bearer ${key}\r\n`))],
  [
    'calls of unknown models',
    (key) => pipelined(chatRequest(key, { model: 'none', messages: [{}] }).toString('latin1')),
  ],
];

describe('four connections that do their worst', () => {
  const directory = temporaryDirectory();
  let simulator: SimulatorWorker;
  let configured: ConfiguredDirectory;
  let serving: ServingProcess;

  beforeAll(async () => {
    simulator = await startSimulatorWorker();
    configured = configureDirectory(directory.path, {
      channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=3' } }],
    });
    const environment = {
      ...configured.options.environment,
      HEADGATE_IDLE_PROBE: '0s',
      HEADGATE_CALL_LOG: 'false',
      HEADGATE_LOG_LEVEL: 'error',
    };
    serving = await serveHeadgate({ ...configured.options, environment });
    await latency(200);
  });
  afterAll(async () => {
    await serving[Symbol.asyncDispose]();
    await simulator.close();
    directory[Symbol.dispose]();
  });

  /** How long one of a hundred calls takes at least, of a caller who makes one after the other. */
  async function latency(count: number): Promise<number> {
    const connection = new RawConnection(serving.ready.apiOrigin);
    const bytes = chatRequest(configured.key, { model: 'demo', messages: [{ role: 'user', content: 'x' }] });
    const took: number[] = [];
    for (let n = 0; n < count; n++) {
      const since = performance.now();
      expect(await connection.send(bytes).answer()).toMatchObject({ status: 200, isWhole: true });
      took.push(performance.now() - since);
    }
    connection.close();
    return took.sort((a, b) => a - b)[Math.floor((count * percentile) / 100)] ?? Number.NaN;
  }

  async function expectFair(name: string, kind: Kind): Promise<void> {
    const ratios: number[] = [];
    do {
      const idleMs = await latency(calls);
      await using flood = new FloodProcess({ ...kind, connections, origin: serving.ready.apiOrigin });
      await expect.poll(async () => (await flood.figures()).opened).toBeGreaterThanOrEqual(connections);
      await delay(200);
      const floodedMs = await latency(calls);
      ratios.push(floodedMs / Math.max(idleMs, idleFloorMs));
      console.log(`${name}: p${percentile} ${idleMs.toFixed(1)} ms, then ${floodedMs.toFixed(1)} ms`);
    } while (Math.min(...ratios) > ratioMax && ratios.length < triesMax);
    expect(Math.min(...ratios)).toBeLessThanOrEqual(ratioMax);
  }

  const timeout = { timeout: 120_000 };

  test.each(isSlow ? strangers : strangers.slice(0, 2))('%s take nothing from others', timeout, expectFair);

  test.each(isSlow ? keyHolders : [])('%s take nothing from others', timeout, (name, kind) =>
    expectFair(name, kind(configured.key)),
  );
});
