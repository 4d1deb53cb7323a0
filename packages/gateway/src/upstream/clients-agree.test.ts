import { once } from 'node:events';
import { Agent, type IncomingMessage, request as nodeRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpClient } from './client.ts';
import { outcomeOf, requestTo } from './contract/recorded-answer.ts';
import { openScriptedUpstream, type ScriptedUpstream } from './contract/scripted-upstream.ts';

interface Seen {
  readonly status: number | null;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const ours = new HttpClient();
const agent = new Agent({ keepAlive: true });
let answer = '';
let upstream: ScriptedUpstream;
let undici: Pool;

beforeAll(async () => {
  upstream = await openScriptedUpstream(async (connection) => {
    while ((await connection.request()) !== null) {
      connection.write(Buffer.from(answer, 'latin1'));
      if (!/content-length|chunked| 204 /i.test(answer)) connection.socket.end();
    }
  });
  undici = new Pool(upstream.origin);
});

afterAll(async () => {
  agent.destroy();
  await Promise.all([ours.close(), undici.close(), upstream.close()]);
});

async function askNode(): Promise<Seen> {
  const request = nodeRequest(`${upstream.origin}/v1/answers`, { method: 'POST', agent });
  request.end('{}');
  // The event hands over exactly this.
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  const body = await buffer(message);
  const headers = Object.entries(message.headersDistinct);
  return {
    status: message.statusCode ?? null,
    headers: new Map(headers.map(([name, values]) => [name, values?.join(', ') ?? ''])),
    body: body.toString('latin1'),
  };
}

async function askUndici(): Promise<Seen> {
  const { statusCode, headers, body } = await undici.request({
    path: '/v1/answers',
    method: 'POST',
    body: '{}',
  });
  return {
    status: statusCode,
    headers: new Map(Object.entries(headers).map(([key, values]) => [key, joinValues(values)])),
    body: Buffer.from(await body.bytes()).toString('latin1'),
  };
}

/** Undici leaves blanks behind a value, which are not part of it (RFC 9112, 5.1). */
function joinValues(values: string | string[] | undefined): string {
  return [values ?? '']
    .flat()
    .map((each) => each.trimEnd())
    .join(', ');
}

async function askOurs(): Promise<Seen> {
  const outcome = await outcomeOf(ours, requestTo(upstream.origin));
  expect(outcome.failure).toBeNull();
  return { status: outcome.status, headers: new Map(outcome.headers), body: outcome.body };
}

const bytes = fc.uint8Array({ maxLength: 3000 }).map((array) => Buffer.from(array).toString('latin1'));
const name = fc.stringMatching(/^x-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const value = fc.stringMatching(/^([!-~]([ \t!-~]{0,20}[!-~])?)?$/);
const headerLines = fc
  .array(fc.tuple(name, fc.constantFrom('', ' ', '  ', '\t'), value), { maxLength: 6 })
  .map((headers) => headers.map(([key, blank, text]) => `${key}:${blank}${text}\r\n`).join(''));

const framedBody = fc.oneof(
  bytes.map((body) => `content-length: ${body.length}\r\n\r\n${body}`),
  bytes.map((body) => `\r\n${body}`),
  fc.array(bytes, { maxLength: 5 }).map((bodies) => {
    const chunks = bodies.filter((body) => body !== '');
    const framed = chunks.map((body) => `${body.length.toString(16)}\r\n${body}\r\n`).join('');
    return `transfer-encoding: chunked\r\n\r\n${framed}0\r\n\r\n`;
  }),
);

const status = fc.constantFrom('200 OK', '201', '400 Bad Request', '429 Too Many', '500 ', '529 Overloaded');

test('three clients read the same answers', async () => {
  await fc.assert(
    fc.asyncProperty(status, headerLines, framedBody, async (line, headers, framed) => {
      answer = `HTTP/1.1 ${line}\r\n${headers}${framed}`;
      const [mine, theirs, reference] = [await askOurs(), await askUndici(), await askNode()];
      expect(mine).toEqual(reference);
      expect(theirs).toEqual(reference);
    }),
    { numRuns: 200 },
  );
});
