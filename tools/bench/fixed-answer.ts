/** The character that marks a frame: it occurs once in each and nowhere else in an answer. */
export const frameMark = '@';
/** Digits of the time stamp that follows the mark: microseconds on the system's monotonic clock. */
export const stampDigits = 16;

/** Path of the one endpoint that everything in the benchmark serves. */
export const callPath = '/v1/chat/completions';

export const modelName = 'bench-model';

/** A whole answer of about 1 KB, head included. */
export function wholeAnswer(): Buffer {
  const message = {
    role: 'assistant',
    content: 'A gateway forwards what it is given. '.repeat(18).trim(),
    refusal: null,
  };
  const body = JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: modelName,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 320, completion_tokens: 144, total_tokens: 464 },
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** The beginning of a stream, content included so that no gateway holds it back. `x-accel-buffering` keeps
 * nginx from collecting frames before it forwards them. */
export function streamOpening(): Buffer {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n' +
    'x-accel-buffering: no\r\ntransfer-encoding: chunked\r\n\r\n';
  return Buffer.concat([
    Buffer.from(head),
    httpChunk(sseFrame({ role: 'assistant', content: '' })),
    httpChunk(sseFrame({ content: 'opened' })),
  ]);
}

/** One frame of content that carries the time at which it was made. */
export function stampedFrame(nowUs: number): Buffer {
  const stamp = String(Math.floor(nowUs)).padStart(stampDigits, '0');
  return httpChunk(sseFrame({ content: `${frameMark}${stamp} token` }));
}

function sseFrame(delta: Readonly<Record<string, string>>): string {
  const chunk = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: modelName,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function httpChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
