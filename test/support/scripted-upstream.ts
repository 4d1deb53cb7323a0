import { createServer, type ServerResponse } from 'node:http';

/** The answer of an upstream: head and the pieces of the body, each in a write of its own. */
export interface Script {
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** An upstream that sends exactly the bytes a test gives it. */
export interface ScriptedUpstream {
  readonly origin: string;
  /** The answer to every request from now on. */
  script: Script;
  /** The body of the latest request, as far as it has come. */
  asked: string;
  close(): void;
}

const nothing: Script = { headers: {}, pieces: [] };

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const upstream = { origin: '', script: nothing, asked: '', close: () => server.close() };
  const server = createServer((request, response) => {
    upstream.asked = '';
    request.setEncoding('utf8').on('data', (text: string) => (upstream.asked += text));
    void answer(response, upstream.script);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  upstream.origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return upstream;
}

async function answer(response: ServerResponse, { headers, pieces }: Script): Promise<void> {
  response.socket?.setNoDelay(true);
  response.writeHead(200, headers);
  for (const piece of pieces) {
    response.write(piece);
    // A turn of the loop lets the piece leave alone.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

export function streamScript(pieces: readonly Uint8Array[]): Script {
  return { headers: { 'content-type': 'text/event-stream' }, pieces };
}

export function jsonScript(body: string): Script {
  return { headers: { 'content-type': 'application/json' }, pieces: [Buffer.from(body)] };
}
