import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type Simulator, startSimulator } from '@headgate/simulator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange, framesOf, RawConnection, request } from './support/raw-http.ts';
import {
  jsonScript,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamScript,
} from './support/scripted-upstream.ts';
import { tries } from './support/slow-form.ts';

const bodyBytesMax = 1024 * 1024;
const upstreamName = 'sim+tokens=1';

let simulator: Simulator;
let scripted: ScriptedUpstream;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  simulator = await startSimulator();
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: [
      { id: 'simulator', origin: simulator.origin, models: { alias: upstreamName, same: 'same' } },
      { id: 'scripted', origin: scripted.origin, models: { scripted: 'scripted' } },
    ],
    flags: { 'body-max': '1MiB' },
  });
  key = gateway.keys.completions;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
  scripted.close();
});

function lastBody(): string {
  return Buffer.from(simulator.requests.at(-1)?.body ?? '').toString();
}

describe('what the upstream receives', () => {
  const space = fc.constantFrom('', '', ' ', '\n', '\t ', '\r\n  ');
  const piece = fc.constantFrom(
    'a',
    'é',
    '\\u00e9',
    '\\ud83d\\ude00',
    '😀',
    '\\/',
    '\\n',
    '\\"',
    '\\\\',
    '\\u0000',
  );
  const string = fc.array(piece, { maxLength: 8 }).map((pieces) => `"${pieces.join('')}"`);
  const number = fc.constantFrom('1.0', '-0', '0.10', '1E+2', '1e400', '12345678901234567890123', '-1.50e-7');
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      string,
      number,
      fc.constantFrom('true', 'null', '[ ]', '{\n}'),
      fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
      fc.array(fc.tuple(string, tie('json')), { maxLength: 3 }).map(objectText),
    ),
  }));

  function objectText(members: readonly (readonly [string, string])[]): string {
    return `{${members.map(([name, value]) => `${name} :${value}`).join(',')}}`;
  }

  /** A body as text, and the same text with the edits that are allowed. */
  interface Edited {
    readonly sent: string;
    readonly expected: string;
  }

  const unchanged = (text: string): Edited => ({ sent: text, expected: text });
  const model = fc.constantFrom(
    unchanged('"model":"same"'),
    { sent: '"model" : "alias"', expected: `"model" : "${upstreamName}"` },
    { sent: '"mod\\u0065l":"al\\u0069as"', expected: `"mod\\u0065l":"${upstreamName}"` },
  );
  const asksUsage = ',"stream_options":{"include_usage":true}';
  const stream = fc.constantFrom(
    unchanged('"x":0'),
    unchanged('"stream":false'),
    unchanged('"stream": true, "stream_options" :{"include_usage" : true, "more":1.0}'),
    { sent: '"stream" : true', expected: `"stream" : true${asksUsage}` },
    {
      sent: '"stream":true,"stream_options":null',
      expected: '"stream":true,"stream_options":{"include_usage":true}',
    },
    {
      sent: '"stream":true,"stream_options":{ }',
      expected: '"stream":true,"stream_options":{"include_usage":true }',
    },
    {
      sent: '"stream":true,"stream_options":{"include_usage":false,"o":1}',
      expected: '"stream":true,"stream_options":{"include_usage":true,"o":1}',
    },
  );
  const messages = fc
    .tuple(string, json)
    .map(([text, extra]) => unchanged(`"messages":[{"role":"user","content":${text},"extra":${extra}}]`));
  const unknown = fc.tuple(string, json).map(([name, value]) => unchanged(`"x-${name.slice(1)}: ${value}`));
  const body = fc
    .tuple(model, stream, messages, fc.array(unknown, { maxLength: 4 }), space)
    .chain(([first, second, third, rest, gap]) =>
      fc
        // Twice the same unknown member is the upstream's business.
        .shuffledSubarray([first, second, third, ...rest, ...rest], { minLength: 3 + 2 * rest.length })
        .map((members) => joined(members, gap)),
    );

  function joined(members: readonly Edited[], gap: string): Edited {
    const join = (texts: readonly string[]) => `${gap}{${gap}${texts.join(`${gap},${gap}`)}${gap}}${gap}`;
    return {
      sent: join(members.map(({ sent }) => sent)),
      expected: join(members.map(({ expected }) => expected)),
    };
  }

  test('is what the caller sent, but for the declared edits, for any body', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    await fc.assert(
      fc.asyncProperty(body, async ({ sent, expected }) => {
        const answer = await connection.send(chatRequest(key, sent)).answer();
        expect(answer, answer.body.toString()).toMatchObject({ status: 200, isWhole: true });
        expect(lastBody()).toBe(expected);
      }),
      { numRuns: tries(400) },
    );
    connection.close();
  });

  test('a member that is read may not be given twice', async () => {
    const twice = '{"model":"alias","messages":[],"mod\\u0065l":"same"}';
    const answer = await exchange(gateway.apiOrigin, chatRequest(key, twice));
    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toContain("'model' is given twice");
  });

  test('the edits are declared in the entry', async () => {
    const sent = { model: 'alias', messages: [], stream: true };
    const { headers } = await exchange(gateway.apiOrigin, chatRequest(key, sent));
    const { attempts } = await entryOf(gateway, headers.get('x-trace-id'));
    expect(attempts[0]?.edits).toEqual(['model', 'stream_options.include_usage']);
  });

  test("no header of the caller's, and never its key", async () => {
    const headers = [
      'cookie: session=caller-secret',
      'x-forwarded-for: 203.0.113.9',
      'x-forwarded-host: caller.example',
      'x-real-ip: 203.0.113.9',
      'forwarded: for=203.0.113.9',
      'via: 1.1 caller',
      'te: trailers',
      'connection: keep-alive, x-hop',
      'x-hop: caller-secret',
      `x-api-key: ${key}`,
      'openai-organization: org-caller-secret',
      'user-agent: caller-secret',
      'accept: text/html',
      'accept-encoding: gzip',
      'idempotency-key: once',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ];
    const answer = await exchange(
      gateway.apiOrigin,
      chatRequest(key, { model: 'alias', messages: [{}] }, headers),
    );
    expect(answer.status).toBe(200);
    const received = simulator.requests.at(-1)?.headers ?? {};
    expect(received).toEqual({
      host: new URL(simulator.origin).host,
      'content-type': 'application/json',
      'content-length': String(lastBody().length),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'headgate',
      connection: 'keep-alive',
    });
  });
});

describe('what the caller receives', () => {
  const chunk = (delta: object, rest: object = {}) =>
    `{"id":"c","object":"chat.completion.chunk","created":1.0,"model":"scripted","choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":null}],"usage":null,"x":12345678901234567890${JSON.stringify(rest).replace('{', ',').replace(/^,}$/, '}')}`;
  const usage = '{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
  const finish = '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
  const frames = [
    ':',
    `data: ${chunk({ role: 'assistant', content: '' })}`,
    `data:${chunk({ content: 'Grüße 😀' })}`,
    'event: ping\ndata: {}',
    `data: ${chunk({ content: '\u2028 two\nlines' }, { more: 1 })}`,
    `data: ${finish}`,
    `data: ${usage}`,
    'data: [DONE]',
  ];
  const streamOf = (lines: readonly string[], lineEnd: string) =>
    Buffer.from(lines.map((frame) => `${frame}\n\n`.replaceAll('\n', lineEnd)).join(''));

  async function streamed(pieces: readonly Uint8Array[], asksUsage: boolean, connection: RawConnection) {
    scripted.script = streamScript(pieces);
    const options = asksUsage ? { stream_options: { include_usage: true } } : {};
    const sent = { model: 'scripted', messages: [], stream: true, ...options };
    const answer = await connection.send(chatRequest(key, sent)).answer();
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    return answer;
  }

  test.each(['\n', '\r\n', '\r'])(
    'every frame of a stream as it came, split at any byte, lines ending in %j',
    async (lineEnd) => {
      const whole = streamOf(frames, lineEnd);
      const connection = new RawConnection(gateway.apiOrigin);
      for (let cut = 1; cut < whole.length; cut += 3) {
        const { body } = await streamed([whole.subarray(0, cut), whole.subarray(cut)], true, connection);
        expect(body.equals(whole), `cut at ${cut}`).toBe(true);
      }
      connection.close();
    },
  );

  test('every frame as it came, byte by byte', async () => {
    const whole = streamOf(frames, '\n');
    const connection = new RawConnection(gateway.apiOrigin);
    const { body } = await streamed(
      [...whole].map((byte) => Buffer.of(byte)),
      true,
      connection,
    );
    expect(body.toString()).toBe(whole.toString());
    connection.close();
  });

  test.each(['\n', '\r\n', '\r'])(
    'of a comment only that there was one, lines ending in %j',
    async (lineEnd) => {
      const connection = new RawConnection(gateway.apiOrigin);
      const told = streamOf([': BUSY at acme', ...frames], lineEnd);
      const { body } = await streamed([told], true, connection);
      expect(body.toString()).toBe(streamOf([':', ...frames], lineEnd).toString());
      connection.close();
    },
  );

  test.each(['\n', '\r\n'])(
    'all but the usage frame when it was not asked for, lines ending in %j',
    async (lineEnd) => {
      const connection = new RawConnection(gateway.apiOrigin);
      const { body, headers } = await streamed([streamOf(frames, lineEnd)], false, connection);
      const expected = streamOf(
        frames.filter((frame) => !frame.includes(usage)),
        lineEnd,
      );
      expect(body.toString()).toBe(expected.toString());
      expect((await entryOf(gateway, headers.get('x-trace-id'))).usage).toMatchObject({
        inputFresh: 3,
        output: 2,
      });
      connection.close();
    },
  );

  test('a last frame without its blank line still ends the stream', async () => {
    const whole = streamOf(frames, '\n');
    const connection = new RawConnection(gateway.apiOrigin);
    const { body } = await streamed([whole.subarray(0, -1)], true, connection);
    expect(framesOf(body).at(-1)).toBe('data: [DONE]\n\n');
    connection.close();
  });

  test('a whole answer byte for byte', async () => {
    const body =
      ' {\r\n"id":"\\u0063", "created" : 1.0,"choices":[{"index":0,"message":{"role":"assistant","content":"\\ud83d\\ude00é"},"finish_reason":"stop"}],"x":123456789012345678901,"x":2, "usage":{"prompt_tokens":3,"completion_tokens":2}}\n';
    scripted.script = jsonScript(body);
    const answer = await exchange(gateway.apiOrigin, chatRequest(key, { model: 'scripted', messages: [] }));
    expect(answer.body.toString()).toBe(body);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  });

  test("none of the upstream's headers but the content type", async () => {
    const told = {
      'set-cookie': 'a=b',
      server: 'secret',
      'x-request-id': 'theirs',
      'openai-organization': 'org-secret',
    };
    const body = '{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}';
    scripted.script = {
      headers: { 'content-type': 'application/json; charset=utf-8', ...told },
      pieces: [Buffer.from(body)],
    };
    const { headers } = await exchange(
      gateway.apiOrigin,
      chatRequest(key, { model: 'scripted', messages: [] }),
    );
    expect([...headers.keys()].sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'x-headgate-attempts',
      'x-request-id',
      'x-trace-id',
    ]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).toBe(headers.get('x-trace-id'));
    const entry = await entryOf(gateway, headers.get('x-trace-id'));
    expect(entry.attempts[0]?.upstreamRequestId).toBe('theirs');
  });
});

describe('compressed bodies', () => {
  const plain = Buffer.from(
    JSON.stringify({ model: 'same', messages: [{ role: 'user', content: 'é'.repeat(5000) }] }),
  );
  const encoders = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  };
  const encodings = Object.entries(encoders);

  function sendEncoded(encoding: string, bytes: Uint8Array) {
    return exchange(gateway.apiOrigin, chatRequest(key, bytes, [`content-encoding: ${encoding}`]));
  }

  test.each(encodings)('%s is unpacked', async (encoding, encode) => {
    expect((await sendEncoded(encoding, encode(plain))).status).toBe(200);
    expect(lastBody()).toBe(plain.toString());
    expect(simulator.requests.at(-1)?.headers).not.toHaveProperty('content-encoding');
  });

  test.each(encodings)('a %s bomb is 413', async (encoding, encode) => {
    const bomb = encode(Buffer.alloc(16 * bodyBytesMax));
    expect(bomb.length).toBeLessThan(bodyBytesMax);
    const answer = await sendEncoded(encoding, bomb);
    expect(answer.status).toBe(413);
    expect(answer.body.toString()).toContain('payload_too_large');
  });

  test.each(encodings)('%s that is broken or ends too early is 400', async (encoding, encode) => {
    for (const bytes of [encode(plain).subarray(0, -9), Buffer.from('{"model":"same"}')]) {
      const answer = await sendEncoded(encoding, bytes);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        error: { code: 'invalid_request', param: 'content-encoding' },
      });
    }
  });

  test.each(['gzip, gzip', 'gzip,br', 'compress', 'aws-chunked', 'x', '__proto__', 'constructor'])(
    '%s is 415',
    async (encoding) => {
      const answer = await sendEncoded(encoding, gzipSync(plain));
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        error: { code: 'unsupported_media_type', param: 'content-encoding' },
      });
    },
  );

  test('a caller who hangs up in the middle of a compressed body does no harm', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const bytes = chatRequest(key, gzipSync(plain), ['content-encoding: gzip']);
    connection.send(bytes.subarray(0, -20));
    connection.reset();
    expect((await sendEncoded('gzip', gzipSync(plain))).status).toBe(200);
  });
});

describe('bodies that are too large', () => {
  const announced = ['content-type: application/json', `content-length: ${bodyBytesMax + 1}`];

  test('are refused by what they announce, before a byte of them is read', async () => {
    const head = request('POST /v1/chat/completions', [`authorization: Bearer ${key}`, ...announced]);
    expect((await exchange(gateway.apiOrigin, head)).status).toBe(413);
  });

  test('are refused as soon as they are too long, and the connection goes on', async () => {
    const headers = [
      `authorization: Bearer ${key}`,
      'content-type: application/json',
      'transfer-encoding: chunked',
    ];
    const connection = new RawConnection(gateway.apiOrigin);
    connection.send(request('POST /v1/chat/completions', headers));
    const part = Buffer.alloc(256 * 1024, ' ');
    for (let sent = 0; sent <= 4 * bodyBytesMax; sent += part.length) {
      connection
        .send(`${part.length.toString(16)}\r\n`)
        .send(part)
        .send('\r\n');
    }
    expect((await connection.answer()).status).toBe(413);
    connection.send('0\r\n\r\n').send(request('GET /v1/models', [`authorization: Bearer ${key}`]));
    expect((await connection.answer()).status).toBe(200);
    connection.close();
  });
});
