import { createServer, type ServerResponse } from 'node:http';

/** An upstream whose answers are as fast as they are read, and larger than any buffer. */
export interface FloodUpstream {
  readonly origin: string;
  /** Bytes of the latest answer that the kernel has taken. */
  readonly sentBytes: number;
  /** The latest caller hung up before the answer's end. */
  readonly isAbandoned: boolean;
  close(): void;
}

const frame = Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(16_000)}"}}]}\n\n`);
const ending = Buffer.from(
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}\n\ndata: [DONE]\n\n',
);

/** Bytes of an answer of this many frames. */
export function floodBytes(frames: number): number {
  return frames * frame.length + ending.length;
}

/** More than the kernel's buffers hold of a connection. */
export const wholeAnswerBytes = 48 * 1024 * 1024;

/** Streams of `frames` frames; or, asked for no stream, one JSON answer of `wholeAnswerBytes`. */
export async function startFloodUpstream(frames: number): Promise<FloodUpstream> {
  const state = { origin: '', sentBytes: 0, isAbandoned: false, close: () => server.close() };
  const server = createServer((request, response) => {
    state.sentBytes = 0;
    response.on('close', () => {
      state.isAbandoned = !response.writableFinished;
    });
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (body.includes('"stream":true')) flood(response, frames, state);
      else response.setHeader('content-type', 'application/json').end(wholeAnswer());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  state.origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return state;
}

function wholeAnswer(): string {
  const content = 'x'.repeat(wholeAnswerBytes);
  return `{"choices":[{"message":{"content":"${content}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`;
}

function flood(response: ServerResponse, frames: number, state: { sentBytes: number }): void {
  response.setHeader('content-type', 'text/event-stream');
  let left = frames;
  const pour = (): void => {
    while (left > 0) {
      left--;
      state.sentBytes += frame.length;
      if (!response.write(frame)) return void response.once('drain', pour);
    }
    state.sentBytes += ending.length;
    response.end(ending);
  };
  pour();
}
