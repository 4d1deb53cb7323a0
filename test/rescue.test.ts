import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { readStream, type StreamRead } from './support/read-stream.ts';
import { isSlow } from './support/slow-form.ts';
import { callSurface, isComplete, type Surface, surfaces } from './support/surface-calls.ts';

let simulator: Simulator;
let gateway: TestGateway;

const paths = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
} as const satisfies Record<Surface, string>;

/** Every protocol takes the beginning of an answer. */
const prefill = Object.fromEntries(surfaces.map((id) => [id, { models: [''], mark: null }]));

const breaks = {
  cut: 'fault=cut-mid-stream',
  end: 'fault=end-mid-stream',
  reset: 'fault=reset-mid-stream',
  garble: 'fault=garble-mid-stream',
  error: 'fault=error-mid-stream',
} as const;

const ways = ['given', 'asked'] as const;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const pairs = surfaces.flatMap((first) =>
    surfaces.flatMap((second) => ways.map((way) => ({ first, second, way }))),
  );
  const channels = pairs.flatMap(({ first, second, way }) => {
    const name = `${first}-${second}-${way}`;
    const models = (upstream: (kind: keyof typeof breaks) => string) =>
      Object.fromEntries(kinds.map((kind) => [`${kind}-${name}`, upstream(kind)]));
    const broken = { protocols: { [first]: paths[first] }, models: models((kind) => `m+${breaks[kind]}`) };
    const sound = { protocols: { [second]: paths[second] }, models: models(() => 'm') };
    const dialect = way === 'given' ? { dialect: { prefill } } : {};
    return [
      { id: `broken-${name}`, origin, priority: 0, ...broken },
      { id: `sound-${name}`, origin, priority: 1, ...sound, ...dialect },
    ];
  });
  gateway = await openTestGateway({
    channels: [...channels, { id: 'whole', origin, models: { whole: 'm' } }],
    rescue: true,
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const kinds = Object.keys(breaks) as readonly (keyof typeof breaks)[];

/** Every surface on every two protocols, both ways; each break where the protocols are the caller's. In the slow form each on all. */
const cases = surfaces.flatMap((surface) =>
  surfaces.flatMap((first) =>
    surfaces.flatMap((second) =>
      ways.flatMap((way) =>
        kinds
          // Its SDKs skip what they cannot read in a stream of messages, and so do we.
          .filter((kind) => kind !== 'garble' || first !== 'messages')
          .filter((kind) => isSlow || kind === 'cut' || (first === surface && second === surface))
          .map((kind) => ({ surface, first, second, way, kind })),
      ),
    ),
  ),
);

describe.each(surfaces)('a caller of %s', (surface) => {
  let whole: StreamRead;

  beforeAll(async () => {
    whole = readStream(surface, (await callSurface(gateway, surface, 'whole', 'stream')).body);
  });

  test.each(cases.filter((each) => each.surface === surface))(
    'has an answer of $first by $second when it meets $kind and the rest is $way',
    async ({ first, second, way, kind }) => {
      const model = `${kind}-${first}-${second}-${way}`;
      const answer = await callSurface(gateway, surface, model, 'stream');
      expect(answer.body.toString()).toContain('"headgate":{"rescued":true}');
      expect(isComplete(answer, surface, 'stream')).toBe(true);
      const read = readStream(surface, answer.body);
      expect(read.text).toBe(whole.text);
      expect(read.finish).toBe(whole.finish);
      const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
      expect(entry).toMatchObject({ status: 'complete', unbilledReason: null });
      expect(entry.attempts).toMatchObject([{ result: 'cut_after_content' }, { result: 'answered' }]);
    },
  );
});
