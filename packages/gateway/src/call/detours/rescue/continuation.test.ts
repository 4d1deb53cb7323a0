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
