import { expect, test } from 'vitest';
import { endedFrame, SseSplitter } from './bytes/sse.ts';
import { isStream, type OddAnswer, oddAnswers } from './odd-servers.fixture.ts';
import type { Reading } from './protocol.ts';
import { protocols } from './protocols.ts';
import { defaultDialect } from './request.ts';
import { collectAnswer } from './translate/answer.ts';
import type { Block } from './turn.ts';
import type { TurnAnswer } from './turn-event.ts';
import { totalInput, totalOutput } from './usage.ts';

const encoder = new TextEncoder();
const context = { origin: 'here', dialect: defaultDialect, names: new Map(), traceId: '0'.repeat(32) };

function framesOf({ body }: OddAnswer): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  const splitter = new SseSplitter(1_000_000);
  splitter.push(encoder.encode(body), (frame) => frames.push(frame.slice()));
  const rest = splitter.rest();
  return rest.length === 0 ? frames : [...frames, endedFrame(rest)];
}

/** A whole answer as it is read: what stands before its first byte is taken away. */
function bytesOf({ body }: OddAnswer): Uint8Array {
  return encoder.encode(body.replace(/^\uFEFF/, ''));
}

/** The reading of an answer that is whole; null where there is none. */
function meter(answer: OddAnswer): Reading | null {
  const protocol = protocols[answer.protocol];
  if (!isStream(answer)) {
    const read = protocol.readAnswer(bytesOf(answer), defaultDialect);
    return read.kind === 'answer' ? read.reading : null;
  }
  const reader = protocol.openStream({ ...defaultDialect, ...answer.dialect });
  const roles = framesOf(answer).map((frame) => reader.read(frame));
  if (reader.refusal !== null) return null;
  expect(roles.includes('terminal') || reader.isWholeWithoutTerminal(), roles.join(' ')).toBe(true);
  return reader.reading;
}

function translated(answer: OddAnswer): TurnAnswer {
  const { codec } = protocols[answer.protocol];
  if (codec === null) throw new Error('every protocol with odd answers is translated');
  if (!isStream(answer)) return codec.readAnswer(bytesOf(answer), context);
  const reader = codec.openReader(context);
  return collectAnswer([...framesOf(answer).flatMap((frame) => reader.read(frame)), ...reader.end()]);
}

function textOf(content: readonly Block[], kind: 'text' | 'reasoning'): string {
  return content.map((block) => (block.kind === kind ? block.text : '')).join('');
}

const cases = oddAnswers.map((answer) => [`${answer.protocol}: ${answer.name}`, answer] as const);

test.each(cases)('%s: the meter reads what was said and used', (_, answer) => {
  const reading = meter(answer);
  const { says } = answer;
  if (says === null) return expect(reading?.finishReason ?? 'error').toBe('error');
  // A word that never came is made up by no meter.
  expect(reading?.finishReason).toBe(says.isUntold === true ? null : says.reason);
  expect(reading?.hasOutput).toBe(true);
  const { usage = null } = reading ?? {};
  // The meter of a protocol reads zeros; that they are no count is seen where it is known what was written.
  const tokens = usage && [totalInput(usage), totalOutput(usage)];
  expect(says.tokens === null && tokens?.every((count) => count === 0) ? null : tokens).toEqual(says.tokens);
  const written = [says.text, says.thoughts, ...(says.calls ?? []).flat()].join('');
  expect(reading?.outputBytes).toBeGreaterThanOrEqual((says.text ?? '').length);
  expect(reading?.outputBytes).toBeLessThanOrEqual(written.length + 40 * (says.calls ?? []).length);
});

test.each(cases.filter(([, { says }]) => says !== null))(
  '%s: a translator reads everything once',
  (_, answer) => {
    const { content, finish } = translated(answer);
    const { says } = answer;
    expect(textOf(content, 'text')).toBe(says?.text ?? '');
    expect(textOf(content, 'reasoning')).toBe(says?.thoughts ?? '');
    const calls = content.flatMap((block) => (block.kind === 'tool-call' ? [[block.name, block.input]] : []));
    expect(calls).toEqual(says?.calls ?? []);
    expect(finish.reason).toBe(says?.reason);
  },
);
