import { protocols } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { Rig } from '../../call.fixture.ts';
import { wordsBeside } from './continuation.ts';

const said = 'The harbour was quiet, and the lamp had gone out. ';
const repeated = 'and the lamp had gone out. ';
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
const called = chunk({
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
});

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', created: 7, model: 'demo', choices })}\n\n`;
}

function usage(prompt: number, completion: number): string {
  const counted = { prompt_tokens: prompt, completion_tokens: completion };
  return `data: ${JSON.stringify({ id: 'chatcmpl-2', choices: [], usage: counted })}\n\n`;
}

/** A call whose answer broke off behind some words, and was continued by this. */
async function continuedBy(...frames: readonly string[]): Promise<Rig> {
  const rig = new Rig({ channels: 2, routing: { rescue: 'continue' } });
  rig.start(true, 'answer', { stream_options: { include_usage: true }, tools, stop: ['END'] });
  rig.answer(true, chunk({ content: said }), 'more');
  rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: 'by the test' });
  await rig.pass(0);
  rig.answer(true, `${frames.join('')}data: [DONE]\n\n`);
  await rig.pass(0);
  return rig;
}

describe('an answer is not made whole by a continuation', () => {
  test.each([
    ['that says nothing', [chunk({ role: 'assistant' }), chunk({}, 'stop')]],
    ['that only thinks', [chunk({ reasoning_content: 'hm' }), chunk({}, 'stop')]],
    ['that calls a tool at once', [called, chunk({}, 'tool_calls')]],
    [
      'that calls a tool behind too few words',
      [chunk({ content: 'Sorry' }), called, chunk({}, 'tool_calls')],
    ],
  ])('%s', async (_what, frames) => {
    const rig = await continuedBy(...frames);
    expect(rig.rescues).toEqual(['unjoined']);
    expect(rig.reply.ending).toBe('broken');
    expect(rig.reply.text).not.toContain('tool_calls');
    expect(rig.settled[0]).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
  });
});

test('a call behind words that join goes on', async () => {
  const rig = await continuedBy(chunk({ content: repeated }), called, chunk({}, 'tool_calls'));
  expect(rig.rescues).toEqual(['whole']);
  expect(rig.reply.text).toContain('"name":"look"');
  expect(rig.settled[0]).toMatchObject({ status: 'complete', finishReason: 'tool-calls' });
});

describe('an answer that was stopped for what it says is not continued elsewhere', () => {
  test.each([
    [{ message: 'The response was filtered', code: 'content_filter' }],
    [{ message: 'Output data may contain inappropriate content.', type: 'data_inspection_failed' }],
    [{ message: 'Output data may contain inappropriate content.' }],
    [{ message: 'System detected potentially unsafe or sensitive content in generation.', code: '1301' }],
    [{ message: 'output new_sensitive', code: 1027 }],
  ])('%j', (error) => {
    const rig = new Rig({ channels: 2, routing: { rescue: 'continue' } });
    rig.start(true);
    rig.answer(true, `${chunk({ content: said })}data: ${JSON.stringify({ error })}\n\n`, 'more');
    expect(rig.asked).toHaveLength(1);
    expect(rig.reply.ending).toBe('broken');
    expect(rig.rescues).toEqual(['untried']);
  });
});

describe('the entry of a rescued call', () => {
  const rest = chunk({ content: `${repeated}Then a bell` });

  test('has the finish of the continuation', async () => {
    const rig = await continuedBy(rest, chunk({}, 'length'), usage(200, 12));
    expect(rig.settled[0]).toMatchObject({ finishReason: 'length', finishReasonRaw: 'length' });
  });

  test('is not charged when the continuation ended in an error', async () => {
    const rig = await continuedBy(rest, chunk({}, 'error'), usage(200, 12));
    expect(rig.settled[0]).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
  });

  test('has none of what the continuation had to be told besides', async () => {
    const rig = await continuedBy(rest, chunk({}, 'stop'), usage(200, 12));
    const beside = Math.ceil(Buffer.byteLength(wordsBeside(said, 'asked')) / 4);
    expect(beside).toBeGreaterThan(80);
    expect(rig.settled[0]?.usage?.inputFresh).toBe(200 - beside);
  });

  test('has the estimate of the request where nobody has counted it', async () => {
    const rig = await continuedBy(rest, chunk({}, 'stop'));
    const [entry] = rig.settled;
    expect(entry?.attempts[0]?.usage?.inputFresh).toBeGreaterThan(20);
    expect(entry?.usage.inputFresh).toBe(entry?.attempts[0]?.usage?.inputFresh);
  });

  test('tells the operator of no odd answer', async () => {
    const rig = await continuedBy(rest, chunk({}, 'stop'), usage(200, 12));
    expect(rig.settled[0]).toMatchObject({ status: 'complete', usageSource: 'estimated' });
    expect(rig.alerts).toEqual([]);
  });
});

test('a frame of more parts than are read is passed on, and is the end of what can be continued', async () => {
  const rig = new Rig({ channels: 2, routing: { rescue: 'continue' } });
  rig.start(true);
  const odd = `data: {"odd":[${'0,'.repeat(21_000)}0],"choices":[{"index":0,"delta":{"content":"."}}]}\n\n`;
  rig.answer(true, chunk({ content: said }) + odd, 'more');
  rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: 'by the test' });
  await rig.pass(0);
  expect(rig.reply.text).toContain('"odd"');
  expect(rig.asked).toHaveLength(1);
  expect(rig.rescues).toEqual(['untried']);
});

test('a caller is told what its entry has, also where no upstream has counted', async () => {
  const messages = protocols['messages'];
  if (messages === undefined) throw new Error('messages are not spoken');
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const text = (words: string) =>
    event('message_start', {
      message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'demo' },
    }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } });
  const rig = new Rig({
    channels: 2,
    routing: { rescue: 'continue' },
    speaks: { messages: '/messages' },
    protocol: messages,
  });
  rig.start(true, 'answer', { max_tokens: 500 });
  rig.answer(true, text(said), 'more');
  rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: 'by the test' });
  await rig.pass(0);
  const end = event('message_delta', { delta: { stop_reason: 'end_turn' } }) + event('message_stop', {});
  rig.answer(true, text(`${repeated}Then a bell`) + event('content_block_stop', { index: 0 }) + end);
  await rig.pass(0);
  expect(rig.rescues).toEqual(['whole']);
  const [, told = ''] = /"message_delta".*"output_tokens":(\d+)/.exec(rig.reply.text) ?? [];
  expect(Number(told)).toBe(rig.settled[0]?.usage.output);
  expect(Number(told)).toBeGreaterThan(13);
});
