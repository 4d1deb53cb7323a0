import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A provider on this machine that knows one key, lists a few models, and streams as many words as a prompt asks for. */
export interface Upstream extends AsyncDisposable {
  /** The base URL that a channel to it has. */
  readonly baseUrl: string;
  readonly key: string;
}

const key = 'sk-right';
const wordPauseMs = 15;
const models = ['gpt-5-mini', 'gpt-5', 'house-model'];

export async function openUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.headers.authorization !== `Bearer ${key}`)
    return sendJson(response, 401, {
      error: { message: 'Incorrect API key provided', code: 'invalid_api_key' },
    });
  if (request.url === '/v1/models') return sendJson(response, 200, { data: models.map((id) => ({ id })) });
  if (request.url !== '/v1/chat/completions')
    return sendJson(response, 404, { error: { message: `Unknown request URL: ${request.url}` } });
  const body = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly model: string;
    readonly messages: readonly { readonly content: unknown }[];
  };
  const words = Number(/(\d+) words/.exec(JSON.stringify(body.messages.at(-1)?.content))?.[1] ?? 12);
  await stream(response, body.model, words);
}

/** A long answer comes as fast as it can be taken, a short one at the pace of a model. */
async function stream(response: ServerResponse, model: string, words: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (members: object) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model, ...members })}\n\n`,
    );
  for (let word = 1; word <= words && !response.destroyed; word++) {
    const delta = { role: 'assistant', content: `word${word} ` };
    const mayGoOn = event({ choices: [{ index: 0, delta, finish_reason: null }] });
    if (words < 100) await pause(wordPauseMs);
    else if (!mayGoOn) await pause(1);
  }
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  event({
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: words, total_tokens: 9 + words },
  });
  response.end('data: [DONE]\n\n');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
