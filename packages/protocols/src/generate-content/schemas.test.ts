import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { reference, whereFound } from '../../../../test/support/reference.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { answerEvents } from '../translate/answer.ts';
import { type Block, noSettings, type Turn } from '../turn.ts';
import type { Finish } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { functionTool, says, targetOf, turnOf, words, writerContext } from './contexts.fixture.ts';
import { NativeEventWriter, writeAnswer } from './write-events.ts';
import { writeTurn } from './write-messages.ts';

const published = 'specs/vertex-generatecontent.schema.json';
const decoder = new TextDecoder();

/** Says what is wrong with a value; the description knows all members there are and allows no others. */
function openCheck(): (name: string, value: unknown) => unknown {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(parseAs<object>(readFileSync(new URL(published, reference), 'utf8')), 'published');
  return (name, value) => {
    const validate = ajv.getSchema(`published#/components/schemas/${name}`);
    if (validate === undefined) throw new Error(`there is no schema ${name}`);
    return validate(value) === true ? null : validate.errors;
  };
}

const sealed = { origin: 'here', data: 'c2ln', form: 'signature' } as const;
const image: Block = {
  kind: 'media',
  media: 'image',
  mediaType: 'image/png',
  source: { kind: 'base64', data: 'AA==' },
  filename: 'a.png',
  detail: 'high',
  cacheTtl: '5m',
};
const citation = { url: 'https://a.example', title: 'A', quote: null, start: 0, end: 1 };
const call: Block = {
  kind: 'tool-call',
  id: 'c1',
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{"zone":"UTC"}',
  sealed,
};
const blocks: readonly Block[] = [
  { kind: 'reasoning', text: 'Hm', sealed },
  { ...words('So'), citations: [citation] },
  { kind: 'refusal', text: 'No' },
  image,
  call,
];
const finishes: readonly Finish['reason'][] = [
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'refusal',
  'error',
  'unknown',
];

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    zone: { type: ['string', 'null'], enum: ['UTC'] },
    n: { oneOf: [{ const: 'one' }, { type: 'array' }] },
  },
  required: ['zone'],
  additionalProperties: false,
};
const turn: Turn = turnOf({
  system: [words('Be brief.')],
  messages: [
    says('user', words('Hi'), image),
    says('assistant', ...blocks),
    says('user', {
      kind: 'tool-result',
      callId: 'c1',
      isError: false,
      content: [words('noon')],
      cacheTtl: null,
    }),
  ],
  tools: [functionTool('clock', { description: 'Tells.', parameters: schema, strict: true })],
  toolChoice: { kind: 'allowed', mode: 'required', names: ['clock'] },
  settings: {
    ...noSettings,
    maxOutputTokens: 9,
    temperature: 1,
    topP: 1,
    topK: 1,
    stop: ['a'],
    seed: 1,
    presencePenalty: 1,
    frequencyPenalty: 1,
    reasoning: { effort: 'max', budgetTokens: null, shown: true },
    outputFormat: { kind: 'json-schema', name: 'x', description: null, schema, strict: true },
  },
});

function writtenRequest(upstreamModel: string): object {
  const written = writeTurn(turn, targetOf({ upstreamModel }));
  if (!written.ok) throw new Error(written.error.message);
  return parseAs<object>(written.value.request.body.map((piece) => decoder.decode(piece)).join(''));
}

/** The whole answer, then its chunks. */
function writtenAnswers(reason: Finish['reason']): readonly object[] {
  const usage = { ...noUsage, inputFresh: 3, inputAudio: 1, output: 2, outputReasoning: 1, outputImage: 4 };
  const finish = { reason, rawReason: null, stopSequence: null, usage };
  const answer = { answerId: 'a', model: 'm', content: blocks, finish };
  const context = writerContext({ framing: 'json-array' });
  const writer = new NativeEventWriter(context);
  const stream = [...answerEvents(answer)].map((event) => writer.write(event)).join('') + writer.end();
  const whole = parseAs<object>(decoder.decode(writeAnswer(answer, context)));
  return [whole, ...parseAs<readonly object[]>(stream)];
}

test('an answer, and every chunk of one, says which answer it is', () => {
  const answers = writtenAnswers('stop');
  expect(answers.length).toBeGreaterThan(4);
  for (const each of answers) expect(each).toMatchObject({ modelVersion: 'm', responseId: 'a' });
});

whereFound('as published', [published], () => {
  const faultsOf = openCheck();

  test.each(['m-1.5-pro', 'm-2.5-pro', 'm-3-pro'])('a request for %s is one', (upstreamModel) => {
    const body = writtenRequest(upstreamModel);
    expect(faultsOf('GenerateContentRequest', body)).toBeNull();
    expect(faultsOf('GenerateContentRequest', { ...body, unheard: 1 })).not.toBeNull();
  });

  test.each(finishes)('an answer that ended with %s is one, whole and in chunks', (reason) => {
    for (const each of writtenAnswers(reason)) {
      expect(faultsOf('GenerateContentResponse', each)).toBeNull();
      expect(faultsOf('GenerateContentResponse', { ...each, unheard: 1 })).not.toBeNull();
    }
  });
});
