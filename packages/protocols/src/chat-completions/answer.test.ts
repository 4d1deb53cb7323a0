import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../inbound-request.ts';
import { noUsage } from '../usage.ts';
import { chatCompletions } from './index.ts';

const encoder = new TextEncoder();
const readAnswer = (text: string) => chatCompletions.readAnswer(encoder.encode(text), defaultDialect);

function reading(text: string) {
  const answer = readAnswer(text);
  if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
  const { usage, finishReason, finishReasonRaw, modelServed, hasOutput, outputBytes } = answer.reading;
  return { usage, finishReason, finishReasonRaw, modelServed, hasOutput, outputBytes };
}

const withMessage = (message: string, finish = '"stop"') =>
  `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":${message},"finish_reason":${finish}}]}`;

describe('readAnswer', () => {
  test('reads usage, finish and what was said', () => {
    const text = `\n{"id":"1","choices":[{"message":{"role":"assistant","content":"h\\u00e9","refusal":null,"annotations":[]},"finish_reason":"stop"}],
      "model":"m-2026","usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}} `;
    expect(reading(text)).toEqual({
      usage: { ...noUsage, inputFresh: 5, output: 2 },
      finishReason: 'stop',
      finishReasonRaw: 'stop',
      modelServed: 'm-2026',
      hasOutput: true,
      outputBytes: 3,
    });
  });

  test.each([
    [
      '{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}',
      'tool-calls',
      3,
    ],
    ['{"role":"assistant","content":null,"refusal":"No."}', 'refusal', 3],
    ['{"role":"assistant","content":"","audio":{"id":"a","data":"AAAA","transcript":"hi"}}', 'stop', 2],
    [
      '{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}',
      'stop',
      2,
    ],
  ])('sees output in %s', (message, finishReason, outputBytes) => {
    expect(reading(withMessage(message))).toMatchObject({ hasOutput: true, finishReason, outputBytes });
  });

  test.each([
    '{"role":"assistant","content":""}',
    '{"role":"assistant","name":"bot","id":"msg_1","type":"message","status":"done","content":""}',
    '{"role":"assistant","content":null,"tool_calls":[]}',
    '{}',
    'null',
  ])('sees no output in %s', (message) => {
    expect(reading(withMessage(message, 'null'))).toMatchObject({
      hasOutput: false,
      finishReason: null,
      outputBytes: 0,
    });
  });

  test('an answer without choices is one without output', () => {
    expect(reading('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}')).toMatchObject({
      hasOutput: false,
    });
  });

  test.each([
    ['', 'garbled'],
    ['   ', 'garbled'],
    ['<!DOCTYPE html><html></html>', 'garbled'],
    ['{"choices":[', 'garbled'],
    ['null', 'garbled'],
    ['{}', 'garbled'],
    ['{"id":"1","object":"chat.completion"}', 'garbled'],
    ['{"choices":null}', 'garbled'],
    ['data: {"choices":[]}\n\n', 'garbled'],
    ['{"error":{"message":"The engine is currently overloaded, please try again later"}}', 'overloaded'],
    ['{"error":{"message":"x","code":429}}', 'rate-limited'],
    ['{"error":"something broke"}', 'server-error'],
    ['[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]', 'overloaded'],
    ['{"object":"error","message":"bad","type":"BadRequestError","code":400}', 'invalid-request'],
    [withMessage('{"content":"half"}', '"error"'), 'server-error'],
  ])('finds the refusal in a 200: %s', (text, kind) => {
    const answer = readAnswer(text);
    expect(answer.kind === 'refusal' ? answer.refusal : null).toMatchObject({ kind, status: 200 });
  });
});
