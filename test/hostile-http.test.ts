import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf, entryOfModel } from './support/ledger.ts';
import { type PeakMemory, watchPeakMemory } from './support/peak-memory.ts';
import { chatRequest, exchange, RawConnection, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;
let auth: string;
let memory: PeakMemory;

beforeAll(async () => {
  memory = watchPeakMemory();
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [
      {
        id: 'a',
        origin: simulator.origin,
        models: {
          demo: 'sim+tokens=3',
          slow: 'slow+tokens=400,rate=100/s',
          ahead: 'ahead+tokens=400,rate=100/s',
          behind: 'behind+tokens=3',
          broken: 'sim+tokens=5,fault=cut-mid-stream',
        },
      },
    ],
    flags: { 'headers-timeout': '1s', 'body-timeout': '1s' },
  });
  auth = `authorization: Bearer ${gateway.keys.completions}`;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
  memory.expectBounded();
});
// The process lives, whatever the test before has done to it.
afterEach(async () => {
  const answer = await exchange(
    gateway.apiOrigin,
    chatRequest(gateway.keys.completions, { model: 'demo', messages: [{}] }),
  );
  expect(answer.status).toBe(200);
});

/** The answer to bytes that are no request we take: an error of ours, and the end of the connection. */
async function expectRefused(bytes: string | Uint8Array, status: number): Promise<void> {
  const connection = new RawConnection(gateway.apiOrigin).send(bytes);
  const answer = await connection.answer();
  expect(answer).toMatchObject({ status, isWhole: true });
  expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code: 'invalid_request' } });
  expect(await connection.farewell()).toBe('FIN');
}

const chatHead = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n';

describe('framing', () => {
  test.each([
    [
      'content-length and transfer-encoding',
      'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two different lengths', 'content-length: 5\r\ncontent-length: 6\r\n\r\nabcdef'],
    ['two equal lengths', 'content-length: 5\r\ncontent-length: 5\r\n\r\nabcde'],
    ['a length that is no number', 'content-length: 5x\r\n\r\nabcde'],
    ['a negative length', 'content-length: -5\r\n\r\nabcde'],
    ['an unknown transfer encoding', 'transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'x-a: b\r\n  folded\r\ncontent-length: 0\r\n\r\n'],
    ['a space before the colon', 'content-length : 5\r\n\r\nabcde'],
    ['a NUL in a header', 'x-a: b\0c\r\n\r\n'],
    ['a NUL in the key', 'authorization: Bearer sk-\0\r\n\r\n'],
    ['a bare line feed', 'x-a: b\nx-c: d\r\n\r\n'],
  ])('%s is refused', async (_, rest) => {
    await expectRefused(chatHead + rest, 400);
  });

  test.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('%s is refused', async (_, bytes) => {
    await expectRefused(bytes, 400);
  });

  test('a bad chunk size in the body', async () => {
    const head = request('POST /v1/chat/completions', [
      auth,
      'content-type: application/json',
      'transfer-encoding: chunked',
    ]);
    const connection = new RawConnection(gateway.apiOrigin).send(head).send('zz\r\n{}\r\n');
    expect((await connection.answer()).status).toBe(400);
    expect(await connection.farewell()).toBe('FIN');
  });
});

describe('headers', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'one named %s does nothing',
    async (name) => {
      const headers = [`${name}: x`, `${name}: y`, auth];
      expect((await exchange(gateway.apiOrigin, request('GET /v1/models', headers))).status).toBe(200);
    },
  );

  test.each([
    ['one long value', `x-a: ${'a'.repeat(20_000)}`],
    ['a long key', `authorization: Bearer ${'a'.repeat(1024 * 1024)}`],
    ['many names', Array.from({ length: 3000 }, (_, index) => `x-${index}: a`).join('\r\n')],
  ])('431 for a block that is too large: %s', async (_, header) => {
    await expectRefused(request('GET /v1/models', [header]), 431);
  });

  test('431 for a path that is too long', async () => {
    await expectRefused(request(`GET /v1/${'a'.repeat(20_000)}`), 431);
  });

  test('a header block that never ends is not waited for', async () => {
    const connection = new RawConnection(gateway.apiOrigin).send('GET /v1/models HTTP/1.1\r\nx-a: ');
    expect((await connection.answer()).status).toBe(408);
    await connection.farewell();
  });
});

describe('connections', () => {
  test('a caller who resets after an upgrade, an error or half a request', async () => {
    const beginnings = [
      request('GET /v1/responses', ['connection: Upgrade', 'upgrade: websocket']),
      'not HTTP\r\n\r\n',
      chatRequest(gateway.keys.completions, { model: 'demo', messages: [{}] }).subarray(0, -5),
      chatRequest(gateway.keys.completions, { model: 'slow', messages: [{}], stream: true }),
    ];
    for (const bytes of beginnings) {
      for (let turn = 0; turn < 5; turn++) {
        const connection = new RawConnection(gateway.apiOrigin).send(bytes);
        if (turn % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
        connection.reset();
      }
    }
  });

  test('one that is refused an upgrade or its bytes is closed, even if the caller stays', async () => {
    for (const bytes of [
      request('GET /v1/responses', ['connection: Upgrade', 'upgrade: websocket']),
      'not HTTP\r\n\r\n',
    ]) {
      const connection = new RawConnection(gateway.apiOrigin).send(bytes);
      expect(await connection.farewell()).toBe('FIN');
      // Nobody listens any more: what is sent now comes back as a reset.
      await expect.poll(() => connection.send('more').isOpen, { timeout: 5000 }).toBe(false);
    }
  });

  test('rubbish behind a streamed call ends the stream as a failure, not with a second answer', async () => {
    const stream = chatRequest(gateway.keys.completions, { model: 'slow', messages: [{}], stream: true });
    const connection = new RawConnection(gateway.apiOrigin).send(stream);
    await connection.seen('content');
    connection.send('rubbish\r\n\r\n');
    const answer = await connection.answer();
    expect(answer.isWhole).toBe(false);
    expect(answer.body.toString()).not.toContain('HTTP/1.1');
    await simulator.until(
      ({ outcome, body }) => outcome === 'client-gone' && Buffer.from(body).includes('slow'),
    );
  });

  test('requests in one packet are answered in their order', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const stream = chatRequest(gateway.keys.completions, { model: 'demo', messages: [{}], stream: true });
    connection.send(
      Buffer.concat([stream, request('GET /v1/models', [auth]), stream, request('GET /v1/nothing')]),
    );
    const answers = [
      await connection.answer(),
      await connection.answer(),
      await connection.answer(),
      await connection.answer(),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
    expect(answers.map(({ isWhole }) => isWhole)).toEqual([true, true, true, true]);
    expect(answers[2]?.body.toString()).toMatch(/\[DONE\]\n\n$/);
    connection.close();
  });

  test('a call behind another one on its connection is not made for a caller who leaves before its turn', async () => {
    const call = (model: string) =>
      chatRequest(gateway.keys.completions, { model, messages: [{}], stream: true });
    const connection = new RawConnection(gateway.apiOrigin);
    connection.send(Buffer.concat([call('ahead'), call('behind')]));
    await connection.seen('content');
    connection.reset();
    await entryOfModel(gateway, 'ahead');
    expect((await entriesOf(gateway)).map((entry) => entry.modelRequested)).not.toContain('behind');
  });

  test('a caller that asks before it sends its body is told to, but not when it is refused anyway', async () => {
    const body = JSON.stringify({ model: 'demo', messages: [{}] });
    const headers = [
      'content-type: application/json',
      `content-length: ${body.length}`,
      'expect: 100-continue',
    ];
    const asking = new RawConnection(gateway.apiOrigin).send(
      request('POST /v1/chat/completions', [auth, ...headers]),
    );
    await asking.seen('HTTP/1.1 100 Continue\r\n\r\n');
    asking.send(body);
    await asking.seen('HTTP/1.1 200 OK');
    asking.close();
    const refused = new RawConnection(gateway.apiOrigin).send(request('POST /v1/chat/completions', headers));
    expect((await refused.answer()).status).toBe(401);
    refused.close();
  });

  test('HTTP/1.0 gets its answer, and its stream without chunks', async () => {
    const bytes = chatRequest(gateway.keys.completions, {
      model: 'demo',
      messages: [{}],
      stream: true,
    }).toString();
    const connection = new RawConnection(gateway.apiOrigin).send(bytes.replace('HTTP/1.1', 'HTTP/1.0'));
    await connection.seen('[DONE]\n\n');
    expect(await connection.farewell()).toBe('FIN');
  });

  test('HTTP/1.0 is told in the stream that it broke, since its end is only a close', async () => {
    const bytes = chatRequest(gateway.keys.completions, { model: 'broken', messages: [{}], stream: true });
    const connection = new RawConnection(gateway.apiOrigin).send(
      bytes.toString().replace('HTTP/1.1', 'HTTP/1.0'),
    );
    await connection.seen('"code":"upstream_error"');
    await expect(connection.seen('[DONE]')).rejects.toThrow('closed without');
  });
});
