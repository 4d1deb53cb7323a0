import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, nativeRequest, RawConnection, request } from './support/raw-http.ts';
import {
  jsonScript,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './support/scripted-upstream.ts';

let simulator: Simulator;
let scripted: ScriptedUpstream;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  simulator = await startSimulator();
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: [
      { id: 'simulator', origin: simulator.origin, models: { alias: 'sim+tokens=1', same: 'same' } },
      { id: 'scripted', origin: scripted.origin, models: { scripted: 'scripted' } },
    ],
  });
  key = gateway.keys.native;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
  scripted.close();
});

const send = (target: string, body: object | string, version?: string) =>
  exchange(gateway.apiOrigin, nativeRequest(key, target, body, version));

function received() {
  const latest = simulator.requests.at(-1);
  return { target: latest?.target, body: Buffer.from(latest?.body ?? '').toString() };
}

describe('what the upstream receives', () => {
  const contents = '"contents":[{"role":"user","parts":[{"text":"\\u00e9\\ud83d\\ude00"}]}]';
  const bodies = [
    `{ ${contents} , "x-new":1.0, "big":12345678901234567890 }`,
    `{"system_instruction":{"parts":{"text":"be brief"}},"generation_config":{"max_output_tokens":"5","top_p":1.0},${contents}}`,
    `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"n","args":{"a":1.0}},"thoughtSignature":"c2ln+/=="}]},{"parts":[{"functionResponse":{"name":"n","response":{"output":""}}}]}]}`,
    `{${contents},"tools":[{"functionDeclarations":[{"name":"n","parameters":{"type":"OBJECT"}}]},{"ofDaysToCome":{}}],"toolConfig":{}}`,
    `{${contents},"safetySettings":[],"labels":{"a":"b","a":"c"},"generationConfig":{"seed":-0}}`,
  ];

  test.each(bodies)('%s is byte for byte what was sent', async (body) => {
    const { status } = await send('same:generateContent', body);
    expect(status).toBe(200);
    expect(received()).toEqual({ target: '/v1/models/same:generateContent', body });
  });

  test.each([
    ['generateContent?key=x', 'generateContent'],
    ['streamGenerateContent', 'streamGenerateContent'],
    ['streamGenerateContent?alt=sse&prettyPrint=false', 'streamGenerateContent?alt=sse'],
    ['countTokens', 'countTokens'],
    ['embedContent', 'embedContent'],
    ['batchEmbedContents', 'batchEmbedContents'],
  ])('%s goes to %s of the target’s own name', async (action, upstream) => {
    const body = `{${contents}}`;
    const { headers, status } = await send(`alias:${action}`, body);
    expect(status).toBe(200);
    expect(received()).toEqual({ target: `/v1/models/sim%2Btokens%3D1:${upstream}`, body });
    expect((await entryOf(gateway, headers.get('x-trace-id'))).attempts[0]?.edits).toEqual([]);
  });

  test('has the upstream name of the model wherever the body repeats it', async () => {
    const content = '{"parts":[{"text":"models/alias"}]}';
    const body = `{"requests":[{"model":"models/alias","content":${content}}, {"content":${content}, "model" : "alias"}]}`;
    const { headers, status } = await send('alias:batchEmbedContents', body);
    expect(status).toBe(200);
    expect(received().body).toBe(
      `{"requests":[{"model":"models/sim+tokens=1","content":${content}}, {"content":${content}, "model" : "sim+tokens=1"}]}`,
    );
    const { attempts } = await entryOf(gateway, headers.get('x-trace-id'));
    expect(attempts[0]?.edits).toEqual(['model', 'model']);
  });
});

describe('what the caller receives', () => {
  const usage = '"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}';
  const chunks = [
    `{"candidates":[{"content":{"parts":[{"text":"Gr\\u00fc\\u00dfe 😀"}],"role":"model"}}],"x":1.0,${usage}}`,
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n","args":{"a":"]}"}},"thoughtSignature":"c2ln"}]}}]}',
    '{"ofDaysToCome":{"big":12345678901234567890}}',
    `{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],${usage},"modelVersion":"m"}`,
  ];
  const framings = {
    'alt=sse': {
      type: 'text/event-stream',
      bytes: Buffer.from(chunks.map((chunk) => `data: ${chunk}\r\n\r\n`).join('')),
    },
    'alt=json': {
      type: 'application/json; charset=UTF-8',
      bytes: Buffer.from(`[${chunks.join('\n,\r\n')}\n]\n`),
    },
  };
  const names = ['alt=sse', 'alt=json'] as const;

  async function streamed(
    alt: keyof typeof framings,
    pieces: readonly Uint8Array[],
    connection: RawConnection,
  ) {
    const script: Script = { headers: { 'content-type': framings[alt].type }, pieces };
    scripted.script = script;
    const body = { contents: [{ parts: [{ text: 'x' }] }] };
    const sent = nativeRequest(key, `scripted:streamGenerateContent?${alt}`, body);
    const answer = await connection.send(sent).answer();
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(answer.headers.get('content-type')).toBe(framings[alt].type);
    return answer;
  }

  test.each(names)('every chunk as it came, split at any byte (%s)', async (alt) => {
    const whole = framings[alt].bytes;
    const connection = new RawConnection(gateway.apiOrigin);
    for (let cut = 1; cut < whole.length; cut += 5) {
      const { body } = await streamed(alt, [whole.subarray(0, cut), whole.subarray(cut)], connection);
      expect(body.equals(whole), `cut at ${cut}`).toBe(true);
    }
    connection.close();
  });

  test.each(names)('every chunk as it came, byte by byte, and its usage (%s)', async (alt) => {
    const connection = new RawConnection(gateway.apiOrigin);
    const bytes = [...framings[alt].bytes].map((byte) => Buffer.of(byte));
    const { body, headers } = await streamed(alt, bytes, connection);
    expect(body.toString()).toBe(framings[alt].bytes.toString());
    expect(await entryOf(gateway, headers.get('x-trace-id'))).toMatchObject({
      surface: 'generate-content',
      usage: { inputFresh: 3, output: 2 },
      finishReason: 'tool-calls',
      finishReasonRaw: 'STOP',
      modelServed: 'm',
      usageSource: 'upstream',
      stream: true,
    });
    connection.close();
  });

  test('events without the comments of a proxy and without [DONE]', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const { bytes } = framings['alt=sse'];
    const noisy = Buffer.concat([Buffer.from(': busy\n\n'), bytes, Buffer.from('data: [DONE]\n\n')]);
    const { body } = await streamed('alt=sse', [noisy], connection);
    expect(body.toString()).toBe(bytes.toString());
    connection.close();
  });

  test('a whole answer byte for byte', async () => {
    const body = ` {\r\n"candidates" : [{"content":{"parts":[{"text":"\\ud83d\\ude00é"}]},"finishReason":"STOP"}],"x":123456789012345678901,"x":2,${usage}}\n`;
    scripted.script = jsonScript(body);
    const answer = await send('scripted:generateContent', { contents: [{ parts: [{ text: 'x' }] }] });
    expect(answer.body.toString()).toBe(body);
  });

  test('a blocked prompt as the upstream says it, unbilled', async () => {
    const body = `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}`;
    scripted.script = jsonScript(body);
    const answer = await send('scripted:generateContent', { contents: [{ parts: [{ text: 'x' }] }] });
    expect([answer.status, answer.body.toString()]).toEqual([200, body]);
    expect(await entryOf(gateway, answer.headers.get('x-trace-id'))).toMatchObject({
      finishReason: 'content-filter',
      finishReasonRaw: 'SAFETY',
      unbilledReason: 'zero_completion',
    });
  });
});

describe('paths', () => {
  const body = { contents: [{ parts: [{ text: 'x' }] }] };

  test.each(['v1', 'v1beta', 'v1alpha'])('/%s is served', async (version) => {
    expect((await send('same:generateContent', body, version)).status).toBe(200);
  });

  test.each([
    ['same:predict', 404, 'not_found'],
    ['same:', 404, 'not_found'],
    ['same/extra:generateContent', 404, 'not_found'],
    ['same:generateContent:x', 404, 'not_found'],
    ['same', 405, 'method_not_allowed'],
    ['unknown:generateContent', 404, 'model_not_found'],
  ])('%s is a %i in the shape of the surface', async (target, status, reason) => {
    const answer = await send(target, body);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: { code: status, reason, trace_id: answer.headers.get('x-trace-id') },
    });
  });

  test.each([
    ['same:generateContent', '{}', 'contents'],
    ['same:streamGenerateContent?alt=proto', JSON.stringify(body), 'alt'],
    [
      'same:generateContent',
      '{"contents":[],"generationConfig":{"maxOutputTokens":-1}}',
      'generationConfig.maxOutputTokens',
    ],
  ])('%s with %s is refused by name', async (target, text, param) => {
    const answer = await send(target, text);
    expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([
      400,
      { error: { code: 400, status: 'INVALID_ARGUMENT', reason: 'invalid_request', param } },
    ]);
  });

  test.each(['completions', 'messages'] as const)(
    'a %s key is told that it is on another platform',
    async (platform) => {
      const sent = nativeRequest(gateway.keys[platform], 'same:generateContent', body);
      const { status, body: answer } = await exchange(gateway.apiOrigin, sent);
      expect([status, JSON.parse(answer.toString())]).toMatchObject([
        404,
        { error: { reason: 'endpoint_not_on_platform', status: 'NOT_FOUND' } },
      ]);
    },
  );

  test('a native key is told the same elsewhere', async () => {
    const headers = [`authorization: Bearer ${key}`, 'content-type: application/json'];
    const sent = request('POST /v1/chat/completions', headers, '{}');
    const { status, body: answer } = await exchange(gateway.apiOrigin, sent);
    expect([status, answer.toString()]).toEqual([404, expect.stringContaining('endpoint_not_on_platform')]);
  });
});
