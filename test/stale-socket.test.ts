import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOnce } from './support/faulty-calls.ts';
import { openTestGateway } from './support/gateway.ts';

const body = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

/** Answers the first request of every connection, and resets the connection at the second. */
let upstream: Server;
const requests = new WeakMap<Socket, number>();

beforeAll(async () => {
  upstream = createServer(({ socket }, response) => {
    const count = (requests.get(socket) ?? 0) + 1;
    requests.set(socket, count);
    if (count > 1) socket.resetAndDestroy();
    else response.setHeader('content-type', 'application/json').end(body);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
});
afterAll(() => upstream.close());

test('a reused connection that was reset is no attempt', async () => {
  const address = upstream.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await using gateway = await openTestGateway({
    channels: [{ id: 'only', origin: `http://127.0.0.1:${port}`, models: { m: 'm' } }],
  });
  for (let n = 0; n < 3; n++) {
    const { answer, entry } = await callOnce(gateway, 'm', 'json');
    expect(answer.status).toBe(200);
    expect(entry.attempts).toMatchObject([{ n: 1, result: 'answered' }]);
  }
});
