import { randomUUID } from 'node:crypto';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { exchange, RawConnection, request } from './support/raw-http.ts';
import { tries } from './support/slow-form.ts';
import { callSurface, isComplete, surfaceRequest } from './support/surface-calls.ts';

/** Callers do wrong against one channel, again and again; after it the channel answers whoever asks rightly. */
const timesWrong = tries(200);
/** Callers who do so at once. */
const callersAtOnce = 20;
/** Calls that must all go to the channel first when the wrong ones are over. */
const callsAfter = 10;

const bodyKibMax = 20;

interface Wrong {
  readonly what: string;
  /** The channel does this meanwhile, in the simulator's words. */
  readonly fault: string | null;
  readonly status: number;
  /** Does it once; the status, or 0 where nobody waits for one. */
  call(model: string, upstream: Simulator): Promise<number>;
}

const refused = { call: (model: string) => statusOf(ask(model)) };

const wrongs: readonly Wrong[] = [
  { what: 'a request that is not valid', fault: '400', status: 400, ...refused },
  { what: 'a request that is too large for the upstream', fault: '413', status: 413, ...refused },
  { what: 'a request that cannot be processed', fault: '422', status: 422, ...refused },
  // The other channel may take it, for all that is known.
  { what: 'a prompt that is too long', fault: '400,code=context_length_exceeded', status: 200, ...refused },
  {
    what: 'a request against the content policy',
    fault: '400,code=content_policy_violation',
    status: 400,
    ...refused,
  },
  { what: 'a hang-up before any byte', fault: 'stall-before-head', status: 0, call: hangUpEarly },
  { what: 'a hang-up after content', fault: 'stall-mid-stream', status: 0, call: hangUpLate },
  { what: 'a count of tokens that the upstream does not offer', fault: '404', status: 200, call: count },
  { what: 'a bad key', fault: null, status: 401, call: (model) => statusOf(ask(model, {}, 'sk-hg-bad')) },
  { what: 'an unknown model', fault: null, status: 404, call: (model) => statusOf(ask(`${model}-unknown`)) },
  {
    what: 'a body that is too large',
    fault: null,
    status: 413,
    call: (model) => statusOf(ask(model, { note: 'x'.repeat(bodyKibMax * 1024) })),
  },
  {
    what: 'a value of the wrong type',
    fault: null,
    status: 400,
    call: (model) => statusOf(ask(model, { stream: 7 })),
  },
  {
    what: 'a body that is no JSON',
    fault: null,
    status: 400,
    call: (model) => statusOf(Buffer.from(ask(model).toString().replace(/\}$/, ' '))),
  },
];

let healthy: Simulator;
/** The channel of each, in their order. */
let upstreams: readonly Simulator[];
let gateway: TestGateway;

beforeAll(async () => {
  const well = 'tokens=5';
  healthy = await startSimulator({ script: well });
  upstreams = await Promise.all(
    wrongs.map(({ fault }) => startSimulator({ script: fault === null ? well : `${well},fault=${fault}` })),
  );
  gateway = await openTestGateway({
    channels: upstreams.flatMap(({ origin }, place) => [
      { id: `cheap-${place}`, origin, cost: '0.01', models: { [`wrong-${place}`]: 'sim' } },
      { id: `dear-${place}`, origin: healthy.origin, cost: '100', models: { [`wrong-${place}`]: 'sim' } },
    ]),
    flags: { 'body-max': `${bodyKibMax}KiB` },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await healthy.close();
  for (const upstream of upstreams) await upstream.close();
});

function ask(model: string, more: object = {}, key?: string): Buffer {
  const bytes = surfaceRequest(gateway, 'chat-completions', model, 'stream', more);
  const own = gateway.keys.completions;
  return key === undefined ? bytes : Buffer.from(bytes.toString().replace(own, key));
}

async function statusOf(bytes: Uint8Array): Promise<number> {
  return (await exchange(gateway.apiOrigin, bytes)).status;
}

async function hangUpEarly(model: string, upstream: Simulator): Promise<number> {
  const user = randomUUID();
  const connection = new RawConnection(gateway.apiOrigin).send(ask(model, { user }));
  const isOf = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).includes(user);
  await upstream.until(isOf);
  connection.close();
  await upstream.until((request) => isOf(request) && request.outcome === 'client-gone');
  return 0;
}

async function hangUpLate(model: string): Promise<number> {
  const connection = new RawConnection(gateway.apiOrigin).send(ask(model));
  await connection.seen('This');
  connection.reset();
  return 0;
}

function count(model: string): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three' }] });
  const headers = [`x-api-key: ${gateway.keys.messages}`, 'content-type: application/json'];
  return statusOf(request('POST /v1/messages/count_tokens', headers, body));
}

describe('a channel is not blamed for what callers do wrong', () => {
  test.each(wrongs.map((wrong, place) => ({ ...wrong, place, model: `wrong-${place}` })))(
    '$what',
    async ({ model, place, status, call }) => {
      const upstream = upstreams[place] ?? healthy;
      for (let done = 0; done < timesWrong; done += callersAtOnce) {
        const statuses = await Promise.all(
          Array.from({ length: callersAtOnce }, () => call(model, upstream)),
        );
        expect(new Set(statuses)).toEqual(new Set([status]));
      }
      upstream.control.setScript('');
      const rightSinceMs = Date.now();
      for (let n = 0; n < callsAfter; n++) {
        const answer = await callSurface(gateway, 'chat-completions', model, 'stream');
        expect(isComplete(answer, 'chat-completions', 'stream')).toBe(true);
      }
      // The entries of callers who hung up may still be on their way.
      const entries = await entriesOf(gateway, { model, status: 'complete' });
      const after = entries.filter(
        ({ surface, startedAtMs }) => surface === 'chat-completions' && startedAtMs >= rightSinceMs,
      );
      const asked = after.map(({ attempts }) => attempts.map(({ channelId }) => channelId));
      expect(asked).toEqual(Array.from({ length: callsAfter }, () => [`cheap-${place}`]));
    },
  );
});
