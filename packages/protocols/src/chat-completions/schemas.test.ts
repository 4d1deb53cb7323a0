import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { reference, whereFound } from '../../../../test/support/reference.ts';
import { answerEvents } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, TurnAnswer } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { isRecord, recordOf } from '../wire-values.ts';
import {
  assistant,
  call,
  chunksOf,
  fullBody,
  ownTarget,
  parsed,
  readBody,
  result,
  text,
  traceId,
  turnOf,
  user,
  writeEvents,
  writerContext,
  written,
} from './codec.fixture.ts';
import { chatCompletionsCodec } from './index.ts';
import { chatSurface } from './wire.ts';

const published = 'specs/openai-openapi-2.3.0.json';

const sealed = { origin: 'there', data: 'x', form: 'signature' } as const;
const said: readonly Block[] = [
  { kind: 'reasoning', text: 'hm', sealed },
  {
    ...text('See.'),
    citations: [{ url: 'https://example.org', title: null, quote: null, start: null, end: null }],
  },
  { kind: 'refusal', text: 'No.' },
];
const usage = { ...noUsage, inputFresh: 3, inputCacheRead: 1, output: 2, outputReasoning: 1 };

function answerOf(content: readonly Block[], reason: Finish['reason'], counted = true): TurnAnswer {
  const finish = { reason, rawReason: null, stopSequence: null, usage: counted ? usage : null };
  return { answerId: null, model: 'm', content, finish };
}

const older = readBody({ functions: [{ name: 'look' }] });
const asked = turnOf({ surface: chatSurface });
const cases = [
  { answer: answerOf([...said, call('c1', { sealed })], 'tool-calls'), turn: asked },
  { answer: answerOf([call('c1')], 'stop'), turn: older },
  { answer: answerOf(said, 'length'), turn: asked },
  { answer: answerOf([], 'content-filter', false), turn: asked },
  { answer: answerOf([text('x')], 'error', false), turn: asked },
];

/** Says in the words of JSON Schema what the description says in those of its format. */
function withNull(_: string, value: unknown): unknown {
  if (!isRecord(value) || value['nullable'] !== true) return value;
  const { nullable: _nullable, ...schema } = value;
  return { anyOf: [schema, { type: 'null' }] };
}

whereFound('as published', [published], () => describe('as published', heldAgainstDescriptions));

function heldAgainstDescriptions(): void {
  const document: unknown = JSON.parse(readFileSync(new URL(published, reference), 'utf8'), withNull);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(isRecord(document) ? { ...document, $id: 'published' } : {});

  function errorsOf(schema: string, value: unknown): readonly string[] {
    const validate = ajv.getSchema(`published#/components/schemas/${schema}`);
    if (validate === undefined) throw new Error(`there is no schema ${schema}`);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }

  test.each(cases)('a whole answer, %#', ({ answer, turn }) => {
    const value = parsed(chatCompletionsCodec.writeAnswer(answer, writerContext({ turn })));
    expect(errorsOf('CreateChatCompletionResponse', value)).toEqual([]);
    expect(errorsOf('CreateChatCompletionResponse', { ...value, created: 'x' })).not.toEqual([]);
  });

  test.each(cases)('every chunk of a stream, %#', ({ answer, turn }) => {
    const context = writerContext({ turn, wantsUsageFrame: true });
    const chunks = chunksOf(writeEvents(answerEvents(answer), context));
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) expect(errorsOf('CreateChatCompletionStreamResponse', chunk)).toEqual([]);
  });

  test.each([
    readBody(fullBody),
    turnOf({
      stream: true,
      system: [text('s')],
      messages: [
        user(text('a')),
        assistant(...said, call('c1'), call('c2', { form: 'custom' })),
        user(result('c1')),
      ],
      settings: { maxOutputTokens: 9, outputFormat: { kind: 'json' } },
    }),
  ])('a written request, %#', (turn) => {
    const { top_k: _, ...body } = recordOf(written(turn, ownTarget).body);
    expect(errorsOf('CreateChatCompletionRequest', body)).toEqual([]);
    expect(errorsOf('CreateChatCompletionRequest', { ...body, messages: 'x' })).not.toEqual([]);
  });
}

test.each(cases)('what the description requires is there, also without it, %#', ({ answer, turn }) => {
  const value = parsed(chatCompletionsCodec.writeAnswer(answer, writerContext({ turn })));
  expect(value).toMatchObject({
    id: `chatcmpl-${traceId}`,
    created: 1_700_000_000,
    choices: [{ index: 0, logprobs: null, message: { role: 'assistant' } }],
  });
});
