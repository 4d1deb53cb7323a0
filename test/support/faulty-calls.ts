import { expect } from 'vitest';
import { z } from 'zod';
import type { LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import type { TestGateway } from './gateway.ts';
import { entryOf } from './ledger.ts';
import { chatRequest, exchange, framesOf, type RawAnswer } from './raw-http.ts';

export type Mode = 'json' | 'stream';

/** One call as the caller's socket and the ledger saw it. */
export interface ObservedCall {
  readonly answer: RawAnswer;
  readonly entry: LedgerRecord;
}

/** Calls a model once and reads the ledger; every answer must carry the trace id that its entry has. */
export async function callOnce(
  gateway: TestGateway,
  model: string,
  mode: Mode,
  members: object = {},
): Promise<ObservedCall> {
  const messages = [{ role: 'user', content: 'one two three' }];
  const body = { model, messages, stream: mode === 'stream', ...members };
  const answer = await exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, body));
  const traceId = answer.headers.get('x-trace-id');
  expect(answer.headers.get('x-request-id')).toBe(traceId);
  return { answer, entry: await entryOf(gateway, traceId) };
}

const errorEnvelope = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
    trace_id: z.string(),
  }),
});

/** The error of a body or an event, whose envelope must be that of the completions surface. */
export function errorIn(json: string): z.infer<typeof errorEnvelope>['error'] {
  return errorEnvelope.parse(JSON.parse(json)).error;
}

const answerText = z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) });
const deltaText = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
});

/** The model's words, of a whole answer or of all frames of a stream. */
export function textOf({ body }: RawAnswer, mode: Mode): string {
  if (mode === 'json') return answerText.parse(JSON.parse(body.toString())).choices[0].message.content;
  return framesOf(body).map(textOfFrame).join('');
}

function textOfFrame(frame: string): string {
  const data = frame.slice('data: '.length).trim();
  if (data === '' || data === '[DONE]') return '';
  return deltaText.parse(JSON.parse(data)).choices[0]?.delta.content ?? '';
}

/** Expects the end of a call in the ledger, and no charge. */
export function expectUncharged({ entry }: ObservedCall, expected: Partial<LedgerRecord>): void {
  expect(entry).toMatchObject({ chargeNanoUsd: 0n, ...expected });
  expect(entry.unbilledReason).not.toBeNull();
}

/** The error a stream that had begun ended with: told in-band, then cut, with no sign of an end. */
export function errorAfterContent({ answer }: ObservedCall) {
  expect(answer).toMatchObject({ status: 200, isWhole: false });
  expect(answer.body.toString()).not.toContain('[DONE]');
  const [last = ''] = framesOf(answer.body).slice(-1);
  expect(last).toMatch(/^data: .*\n\n$/);
  return errorIn(last.slice('data: '.length));
}
