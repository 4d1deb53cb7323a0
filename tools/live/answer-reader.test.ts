import { expect, test } from 'vitest';
import { AnswerReader } from './answer-reader.ts';
import { surfaces } from './surface.ts';

function surface(name: string) {
  const found = surfaces.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no surface ${name}`);
  return found;
}

function chunked(...parts: readonly string[]): string {
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return `HTTP/1.1 200 OK\r\nx-trace-id: 0123abcd\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}`;
}

function json(status: number, body: string): string {
  return `HTTP/1.1 ${status} Simulated\r\nx-trace-id: 0123abcd\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const words = 'data: {"choices":[{"delta":{"content":"This"}}]}\n\n';
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}\n\n';
const done = 'data: [DONE]\n\n';
const error = 'data: {"error":{"code":"upstream_error"}}\n\n';
const whole =
  '{"choices":[{"message":{"content":"This is"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7}}';

test.each([
  ['a stream', 'chat-completions', `${chunked(words, usage, done)}0\r\n\r\n`, 'answered', true],
  ['a stream that lacks its last chunk', 'chat-completions', chunked(words, usage, done), 'cut', false],
  [
    'a stream that ends without its mark',
    'chat-completions',
    `${chunked(words, usage)}0\r\n\r\n`,
    'cut',
    true,
  ],
  ['a stream with an error in it', 'chat-completions', chunked(words, error), 'cut', false],
  ['signs of life, then an error', 'chat-completions', chunked(': wait\n\n', error), 'failed', false],
  ['a JSON answer', 'chat-completions, JSON', json(200, whole), 'answered', true],
  ['half of it', 'chat-completions, JSON', json(200, whole).slice(0, -9), 'cut', false],
  ['an error', 'chat-completions, JSON', json(502, '{"error":{}}'), 'failed', true],
  ['nothing', 'chat-completions', '', 'failed', false],
] as const)('%s, in pieces of any size', (_, name, bytes, ending, isWhole) => {
  for (const size of [1, 2, 3, 7, bytes.length + 1]) {
    const reader = new AnswerReader(surface(name));
    for (let at = 0; at < bytes.length; at += size) reader.read(Buffer.from(bytes.slice(at, at + size)));
    expect({ ending: reader.seen().ending, isWhole: reader.isWhole }).toEqual({ ending, isWhole });
  }
});

test('what is told of a call', () => {
  const reader = new AnswerReader(surface('chat-completions'));
  reader.read(Buffer.from(`${chunked(words, usage, done)}0\r\n\r\n`));
  expect(reader.seen()).toEqual({
    ending: 'answered',
    status: 200,
    isRescued: false,
    traceId: '0123abcd',
    usage: { input: 11, output: 7 },
  });
});
