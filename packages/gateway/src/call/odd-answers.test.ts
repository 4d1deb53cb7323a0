import type { Dialect } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { chatCompletions, Rig } from './call.fixture.ts';

const chunk = (delta: object, finishReason: string | null = null) =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
const words = chunk({ content: 'One two three four' });
const usage = '{"prompt_tokens":3,"completion_tokens":5}';

describe('the end of a stream without a terminal frame', () => {
  const last = `${chunk({ content: '.' }, 'stop')}data: {"choices":[],"usage":${usage}}\n\n`;

  test.each(['settled', 'unavailable'] as const)(
    'is ours, and waits for its entry: %s',
    async (settlement) => {
      const rig = new Rig({ settlement });
      const { done } = rig.start(true);
      rig.answer(true, words, 'more');
      rig.answer(true, last, 'more');
      expect(rig.reply.text).toContain('"stop"');
      rig.sent.at(-1)?.handler.onEnd();
      await done;
      expect(rig.reply.ending).toBe(settlement === 'settled' ? 'clean' : 'broken');
      expect(rig.reply.text.includes('[DONE]')).toBe(settlement === 'settled');
      expect(rig.settled).toMatchObject([
        { attempts: [{ edits: ['stream_options.include_usage', 'stream-end'] }] },
      ]);
    },
  );

  test.each(['settled', 'unavailable'] as const)(
    'is nothing but its own where nothing else says it, and waits: %s',
    async (settlement) => {
      const { openStream } = chatCompletions();
      const endless = (dialect: Dialect) => {
        const reader = openStream(dialect);
        return Object.assign(reader, {
          mayHaveEnded: () => reader.isWholeWithoutTerminal(),
          missingEnd: () => new Uint8Array(0),
        });
      };
      const rig = new Rig({ protocol: { openStream: endless }, settlement });
      const { done } = rig.start(true);
      rig.answer(true, words, 'more');
      rig.answer(true, last, 'more');
      expect(rig.reply.text).toBe(words);
      rig.sent.at(-1)?.handler.onEnd();
      await done;
      expect(rig.reply.ending).toBe(settlement === 'settled' ? 'clean' : 'broken');
      expect(rig.reply.text.includes('"stop"')).toBe(settlement === 'settled');
    },
  );
});

describe('an answer with something that is not of its protocol', () => {
  const log = 'a line of a log\n\n';
  const end = `${chunk({}, 'stop')}data: [DONE]\n\n`;

  test('has frames passed over in its midst, which are counted, and the operator is told', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.answer(true, `${words}${log}${words}${log}${end}`);
    await done;
    expect(rig.reply.text).toBe(`${words}${words}${end}`);
    expect(rig.settled).toMatchObject([
      { status: 'complete', attempts: [{ edits: ['stream_options.include_usage', 'frames-skipped=2'] }] },
    ]);
    expect(rig.alerts).toEqual(['odd-answer']);
  });

  test('is none where a stream has counts and its last frame, and nothing else', async () => {
    const rig = new Rig();
    const { done } = rig.start(true);
    rig.answer(true, `data: {"choices":[],"usage":${usage}}\n\ndata: [DONE]\n\n`);
    expect(rig.settled).toEqual([]);
    await rig.pass(1_000);
    rig.answer(true, `${words}${end}`);
    await done;
    expect(rig.reply.text).toBe(`${words}${end}`);
    expect(rig.settled).toMatchObject([
      { status: 'complete', attempts: [{ result: 'refused' }, { result: 'answered' }] },
    ]);
  });

  test.each(['0', '"many"', '1e300'])('has its usage estimated where that is told as %s', async (count) => {
    const rig = new Rig();
    const { done } = rig.start(true);
    const counted = usage.replaceAll(/\d+/g, count);
    rig.answer(
      true,
      `${words}${chunk({}, 'stop')}data: {"choices":[],"usage":${counted}}\n\ndata: [DONE]\n\n`,
    );
    await done;
    const [entry] = rig.settled;
    expect(entry).toMatchObject({ status: 'complete', usageSource: 'estimated', usage: { output: 5 } });
    expect(entry?.usage.inputFresh).toBeGreaterThan(0);
    expect(rig.alerts).toEqual(count === '0' ? ['odd-answer'] : []);
  });

  test.each([1, 2, 5, 400])('loses the mark before it, in pieces of %i bytes', async (bytes) => {
    const rig = new Rig();
    const { done } = rig.start(true);
    const stream = Buffer.from(`\uFEFF${words}${end}`);
    rig.answer(true, '', 'more');
    for (let at = 0; at < stream.length; at += bytes)
      rig.sent.at(-1)?.handler.onData(stream.subarray(at, at + bytes));
    rig.sent.at(-1)?.handler.onEnd();
    await done;
    expect(rig.reply.text).toBe(`${words}${end}`);
  });
});
