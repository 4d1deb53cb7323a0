// A process: the least that a proxy on node:http and undici can do and still be one. It relays head, body and streams
// with back-pressure, and knows nothing of models, keys or money. Prints its port as a JSON line.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, type Dispatcher } from 'undici';

const upstream = String(process.argv[2]);
const agent = new Agent({ connections: 4096, pipelining: 1, bodyTimeout: 0 });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => forward(request, Buffer.concat(chunks), response));
});

function forward(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const headers = {
    'content-type': request.headers['content-type'] ?? '',
    authorization: request.headers.authorization ?? '',
  };
  agent.dispatch(
    { origin: upstream, path: request.url ?? '/', method: 'POST', headers, body },
    relayTo(response),
  );
}

function relayTo(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      response.on('drain', () => controller.resume());
      response.on('close', () => {
        if (!response.writableFinished) controller.abort(new Error('The caller has gone.'));
      });
    },
    onResponseStart(_controller, status, headers) {
      const { connection: _hop, 'transfer-encoding': _framing, 'keep-alive': _idle, ...own } = headers;
      response.writeHead(status, own);
    },
    onResponseData(controller, chunk) {
      if (!response.write(chunk)) controller.pause();
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      response.destroy();
    },
  };
}

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});

// The benchmark is gone, however it went.
process.stdin.on('end', () => process.exit()).resume();
