import { describe, expect, test } from 'vitest';
import { Rig, type RigOptions } from '../../call.fixture.ts';

function chunk(delta: object, finish: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 7, model: 'demo', choices, ...more })}\n\n`;
}

function words(content: string): string {
  return chunk({ content });
}

function usage(prompt: number, completion: number, details: object = {}): string {
  const counted = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...details,
  };
  return `data: ${JSON.stringify({ id: 'chatcmpl-2', choices: [], usage: counted })}\n\ndata: [DONE]\n\n`;
}

/** The words of all frames. */
function textIn(stream: string): string {
  return [...stream.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)]
    .map(([, text]) => JSON.parse(text ?? '""') as string)
    .join('');
}

const said = 'The harbour was quiet, and the lamp had gone out. '; // 50 bytes: 13 tokens by estimate.

function open(options: RigOptions = {}, more: object = {}): Rig {
  const rig = new Rig({ channels: 3, ...options, routing: { rescue: 'continue', ...options.routing } });
  rig.start(true, 'answer', { stream_options: { include_usage: true }, ...more });
  return rig;
}

/** The latest upstream says something, and its connection breaks. */
async function breakOff(rig: Rig, text: string): Promise<void> {
  rig.answer(true, text, 'more');
  rig.sent.at(-1)?.handler.onFailure({ kind: 'reset', detail: 'by the test' });
  await rig.pass(0);
}

test('the rest is asked for elsewhere, joined, and sold once', async () => {
  const rig = open();
  await breakOff(rig, words(said));
  expect(new Set(rig.asked).size).toBe(2);
  // 60 tokens were said, 40 of them reasoning; of 40 characters 24 had been said before.
  rig.answer(
    true,
    chunk({ reasoning_content: 'hm' }) +
      words('and the lamp had gone out. Then a bell') +
      chunk({}, 'stop') +
      usage(103, 60, { completion_tokens_details: { reasoning_tokens: 41 } }),
  );
  await rig.pass(0);
  expect(rig.reply.ending).toBe('clean');
  expect(rig.rescues).toEqual(['whole']);
  expect(textIn(rig.reply.text)).toBe(`${said}Then a bell`);
  expect(rig.reply.text.match(/"id":"chatcmpl-1"/g)?.length).toBe(rig.reply.text.match(/"id":/g)?.length);
  const [entry] = rig.settled;
  // 103 counted less 83 for what was said and the request to go on; 13 + ⌈19 × 11 ⁄ 38⌉.
  expect(entry?.usage).toMatchObject({ inputFresh: 20, output: 19, outputReasoning: 0 });
  expect(entry).toMatchObject({
    status: 'complete',
    unbilledReason: null,
    usageSource: 'estimated',
  });
  expect(rig.reply.text).toContain('"prompt_tokens":20,"completion_tokens":19,"total_tokens":39');
  expect(entry?.chargeNanoUsd).toBe(39_000n);
  expect(entry?.attempts).toMatchObject([
    { result: 'cut_after_content', usage: { output: 13 } },
    { result: 'answered', usage: { inputFresh: 103, output: 60 } },
  ]);
  expect(entry?.attempts[1]?.edits).toContain('rescue asked');
});

test('a caller who leaves while its stream is continued pays for what it got', async () => {
  const rig = open();
  await breakOff(rig, words(said));
  rig.reply.listener?.onCallerGone();
  await rig.pass(0);
  expect(rig.rescues).toEqual(['left']);
  const [entry] = rig.settled;
  expect(entry).toMatchObject({ status: 'caller_gone', unbilledReason: null, usageSource: 'estimated' });
  expect(entry?.usage.output).toBe(13);
  expect(entry?.chargeNanoUsd).toBeGreaterThan(0n);
});

test('a channel that refuses to go on is followed by the next one, and told on nobody', async () => {
  const rig = open();
  await breakOff(rig, words(said));
  await rig.refuse(500);
  expect(new Set(rig.asked).size).toBe(3);
  await rig.refuse(503);
  expect(rig.reply.ending).toBe('broken');
  expect(rig.rescues).toEqual(['failed']);
  expect(rig.settled[0]).toMatchObject({
    status: 'failed',
    unbilledReason: 'cut_after_content',
    chargeNanoUsd: 0n,
    errorCode: 'upstream_error',
  });
  expect(rig.settled[0]?.attempts).toHaveLength(3);
});

test('what does not join is not sent on', async () => {
  const rig = open();
  await breakOff(rig, words(said));
  rig.answer(true, words('Certainly! Here is the rest of the story:'), 'more');
  await rig.pass(0);
  expect(rig.reply.ending).toBe('broken');
  expect(rig.reply.text).not.toContain('Certainly');
  expect(rig.rescues).toEqual(['unjoined']);
  expect(rig.sent[1]?.isAborted).toBe(true);
  expect(rig.settled[0]).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
});

test('never twice', async () => {
  const rig = open();
  await breakOff(rig, words(said));
  await breakOff(rig, words('and the lamp had gone out. Then'));
  expect(new Set(rig.asked).size).toBe(2);
  expect(rig.reply.ending).toBe('broken');
  expect(rig.rescues).toEqual(['failed']);
  expect(rig.settled[0]).toMatchObject({
    status: 'failed',
    unbilledReason: 'cut_after_content',
    chargeNanoUsd: 0n,
  });
});

test('a stream that stalls is continued, and the silent one let go of', async () => {
  const rig = open();
  rig.answer(true, words(said), 'more');
  await rig.pass(61_000);
  expect(new Set(rig.asked).size).toBe(2);
  expect(rig.sent[0]?.isAborted).toBe(true);
});

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at"' } };
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
const refused =
  'data: {"error":{"message":"filtered","type":"invalid_request_error","code":"content_filter"}}\n\n';

describe('a stream fails as before', () => {
  test.each<[string, string, object?, RigOptions?]>([
    ['where the group does not say otherwise', words(said), {}, { routing: { rescue: 'none' } }],
    ['within a call of a tool', words(said) + chunk({ tool_calls: [call] }), { tools }],
    ['within a thought', chunk({ reasoning_content: 'Let me see' })],
    ['within a refusal', chunk({ refusal: 'I cannot' })],
    ['behind its finish reason', words(said) + chunk({}, 'stop')],
    ['behind an error about the request', words(said) + refused],
    ['where JSON was asked for', words(said), { response_format: { type: 'json_object' } }],
    ['where a tool has to be called', words(said), { tools, tool_choice: 'required' }],
    ['where several answers were asked for', words(said), { n: 2 }],
    ['where probabilities were asked for', words(said), { logprobs: true }],
    ['where next to nothing is left of the limit', words(said), { max_tokens: 40 }],
    ['where nothing but white space was said', words(' \n')],
    ['where its attempts are spent', words(said), {}, { limits: { attemptsMax: 1 } }],
    ['where there is no other channel', words(said), {}, { channels: 1 }],
  ])('%s', async (_where, text, more = {}, options = {}) => {
    const rig = open(options, more);
    await breakOff(rig, text);
    expect(rig.asked).toHaveLength(1);
    expect(rig.reply.ending).toBe('broken');
    expect(rig.settled[0]).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
    expect(rig.rescues).toEqual(
      options.routing?.rescue === 'none' || 'response_format' in more || 'n' in more ? [] : ['untried'],
    );
  });
});

describe('wherever within a frame a connection breaks', () => {
  const next = Buffer.from(words('“Ist da wer?” – 灯 \u0007 \ud83d\ude00 "ja"\n'));

  test('what was whole is gone on with, and nothing of the rest is seen', async () => {
    // A whole event without its blank line is one, at a clean end.
    for (let cut = 1; cut < next.length - 2; cut++) {
      const rig = open();
      rig.answer(true, words(said), 'more');
      rig.sent[0]?.handler.onData(Buffer.from(next.subarray(0, cut)));
      if (cut % 2 === 0) rig.sent[0]?.handler.onEnd();
      else rig.sent[0]?.handler.onFailure({ kind: 'reset', detail: '' });
      await rig.pass(0);
      rig.answer(true, words('and the lamp had gone out. Done.') + chunk({}, 'stop') + usage(30, 9));
      expect(textIn(rig.reply.text), `after ${cut} bytes`).toBe(`${said}Done.`);
      expect(rig.reply.ending).toBe('clean');
    }
  });

  test('and so it is within a pair of escapes, half of which was a frame of its own', async () => {
    const rig = open();
    await breakOff(rig, words(said) + words('A smile: \ud83d'));
    rig.answer(true, words('lamp had gone out. A smile: \ud83d\ude00!') + chunk({}, 'stop') + usage(30, 9));
    expect(textIn(rig.reply.text)).toBe(`${said}A smile: \ud83d\ude00!`);
  });
});

test('a call that a second channel begins and breaks off is not begun again by a third', async () => {
  const rig = open({}, { tools });
  await breakOff(rig, words(said));
  rig.answer(true, words('and the lamp had gone out. '), 'more');
  await breakOff(rig, chunk({ tool_calls: [call] }));
  expect(rig.asked).toHaveLength(2);
  expect(rig.reply.ending).toBe('broken');
});
