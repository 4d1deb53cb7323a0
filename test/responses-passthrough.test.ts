import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, RawConnection, responsesRequest } from './support/raw-http.ts';
import {
  jsonScript,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamScript,
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
  const call = '{"type":"function_call","call_id":"c","name":"n","arguments":"{\\"a\\": 1.0}"}';
  const output = '{"type":"function_call_output","call_id":"c","output":""}';
  const bodies = [
    `{ "model":"same", "input" : "\\u00e9\\ud83d\\ude00", "x-new":1.0, "big":12345678901234567890 }`,
    `{"input":[${call},${output}],"store":false,"include":["reasoning.encrypted_content"],"model":"same"}`,
    `{"model":"same","input":"x","tools":[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"namespace","name":"g","description":"","tools":[{"type":"function","name":"n","parameters":null,"strict":false}]},{"type":"tool_search"}]}`,
    `{"model":"same","input":"x","conversation":{"id":"conv_1"},"truncation":"auto","metadata":{"a":"b","a":"c"}}`,
    `{"model":"same","input":"x","background":true,"stream":true,"stream_options":{"include_obfuscation":false}}`,
    `{"model":"same","input":[{"type":"item_of_days_to_come","x":-0}],"reasoning":{"effort":"ultra"}}`,
  ];

  test.each(bodies)('%s is byte for byte what was sent', async (body) => {
    const { status } = await exchange(gateway.apiOrigin, responsesRequest(key, body));
    expect(status).toBe(200);
    expect(lastBody()).toBe(body);
    expect(simulator.requests.at(-1)?.target).toBe('/v1/responses');
  });

  test('has the upstream name of the model, and nothing else is changed', async () => {
    const body = '{"input":"x" , "mod\\u0065l" : "al\\u0069as","n":[1.0,1e400]}';
    const { headers } = await exchange(gateway.apiOrigin, responsesRequest(key, body));
    expect(lastBody()).toBe('{"input":"x" , "mod\\u0065l" : "sim+tokens=1","n":[1.0,1e400]}');
    expect((await entryOf(gateway, headers.get('x-trace-id'))).attempts[0]?.edits).toEqual(['model']);
  });

  test('what the upstream does not remember is refused in its words', async () => {
    const body = { model: 'same', input: 'x', previous_response_id: 'resp_gone' };
    const { status, body: answer } = await exchange(gateway.apiOrigin, responsesRequest(key, body));
    expect(status).toBe(400);
    expect(JSON.parse(answer.toString())).toMatchObject({
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
  });

  test('nothing, when an answer would have to be fetched later', async () => {
    const before = simulator.requestCount;
    const body = { model: 'same', input: 'x', background: true };
    const { status, body: answer } = await exchange(gateway.apiOrigin, responsesRequest(key, body));
    expect([status, JSON.parse(answer.toString())]).toMatchObject([400, { error: { param: 'background' } }]);
    expect(simulator.requestCount).toBe(before);
  });
});

describe('what the caller receives', () => {
  const event = (type: string, members: string) => `event: ${type}\ndata: {"type":"${type}",${members}}`;
  const response = (status: string, rest: string) =>
    `"response":{"id":"resp_1","object":"response","created_at":1.0,"status":"${status}","model":"scripted","x":12345678901234567890,${rest}}`;
  const usage =
    '"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":5}';
  const frames = [
    ': hello',
    event('response.created', response('in_progress', '"output":[],"usage":null')),
    event('response.output_item.added', '"output_index":0,"item":{"type":"message","content":[]}'),
    event('response.output_text.delta', '"sequence_number":2,"delta":"Gr\\u00fc\\u00dfe 😀","logprobs":[]'),
    event('response.output_text.delta', '"sequence_number":3,"delta":"\\u2028 two","obfuscation":"xY3"'),
    event('response.of_days_to_come', '"sequence_number":4.0,"x":[ ]'),
    event('response.output_item.done', '"output_index":0,"item":{"type":"message","content":[]}'),
    event('response.completed', response('completed', `"output":[],${usage}`)),
  ];
  const streamOf = (lineEnd: string) =>
    Buffer.from(frames.map((frame) => `${frame}\n\n`.replaceAll('\n', lineEnd)).join(''));
  /** A caller is told only that there was a comment. */
  const passedOn = (stream: Buffer) => stream.toString().replace(': hello', ':');
  const sent = { model: 'scripted', input: 'x', stream: true };

  async function streamed(pieces: readonly Uint8Array[], connection: RawConnection) {
    scripted.script = streamScript(pieces);
    const answer = await connection.send(responsesRequest(key, sent)).answer();
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    return answer;
  }

  test.each(['\n', '\r\n', '\r'])(
    'every event as it came, split at any byte, lines ending in %j',
    async (lineEnd) => {
      const whole = streamOf(lineEnd);
      const connection = new RawConnection(gateway.apiOrigin);
      for (let cut = 1; cut < whole.length; cut += 7) {
        const { body } = await streamed([whole.subarray(0, cut), whole.subarray(cut)], connection);
        expect(body.toString(), `cut at ${cut}`).toBe(passedOn(whole));
      }
      connection.close();
    },
  );

  test('every event as it came, byte by byte, and its usage', async () => {
    const connection = new RawConnection(gateway.apiOrigin);
    const bytes = [...streamOf('\n')].map((byte) => Buffer.of(byte));
    const { body, headers } = await streamed(bytes, connection);
    expect(body.toString()).toBe(passedOn(streamOf('\n')));
    expect(await entryOf(gateway, headers.get('x-trace-id'))).toMatchObject({
      usage: { inputFresh: 3, output: 2 },
      finishReason: 'stop',
      finishReasonRaw: 'completed',
      usageSource: 'upstream',
    });
    connection.close();
  });

  test('a whole answer byte for byte', async () => {
    const content = '[{"type":"output_text","text":"\\ud83d\\ude00é","annotations":[]}]';
    const body = ` {\r\n"id":"r", "created_at" : 1.0,"status":"completed","output":[{"type":"message","content":${content}}],"x":123456789012345678901,"x":2,${usage}}\n`;
    scripted.script = jsonScript(body);
    const answer = await exchange(
      gateway.apiOrigin,
      responsesRequest(key, { model: 'scripted', input: 'x' }),
    );
    expect(answer.body.toString()).toBe(body);
  });
});
