import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { reference, whereFound } from '../../../../test/support/reference.ts';
import { readSseEvent } from '../bytes/sse.ts';
import { answerEvents } from '../translate/answer.ts';
import type { Block, Turn } from '../turn.ts';
import type { Finish, TurnAnswer } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { framesOf, text, turnOf, writeEvents, writerContext } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';
import { responsesSurface } from './wire.ts';

const published = [
  { name: 'specs/openai-openapi-2.3.0.json', response: 'Response' },
  { name: 'specs/openresponses-2026-04-24.json', response: 'ResponseResource' },
] as const;
type Published = (typeof published)[number];

const usage = { ...noUsage, inputFresh: 3, inputCacheRead: 1, output: 2, outputReasoning: 1 };
const call = { kind: 'tool-call', namespace: null, sealed: null } as const;
const sealed = { origin: 'there', data: 'x', form: 'signature' } as const;

const shared: readonly Block[] = [
  { kind: 'reasoning', text: 'hm', sealed },
  { kind: 'reasoning', text: '', sealed: { ...sealed, form: 'redacted' } },
  {
    ...text('See.'),
    citations: [{ url: 'https://example.org', title: null, quote: null, start: null, end: null }],
  },
  text('More.'),
  { ...call, id: 'c1', name: 'f', form: 'function', input: '{"a":1}', sealed },
  { kind: 'refusal', text: 'No.' },
];

/** Members that one of the descriptions has not. */
const own: readonly Block[] = [
  { ...call, id: 'c2', name: 'p', namespace: 'n', form: 'custom', input: '*** x' },
  {
    kind: 'media',
    media: 'image',
    mediaType: 'image/png',
    source: { kind: 'base64', data: 'AA==' },
    filename: null,
    detail: null,
    cacheTtl: null,
  },
];

const parameters = { type: 'object', properties: {} };
const fn = {
  kind: 'function',
  name: 'f',
  namespace: null,
  description: '',
  parameters,
  strict: null,
  cacheTtl: null,
} as const;
const custom = { kind: 'custom', name: 'p', namespace: 'n', description: '', format: null } as const;
const asked = turnOf({
  surface: responsesSurface,
  tools: [fn],
  toolChoice: { kind: 'allowed', mode: 'auto', names: ['f'] },
  settings: { reasoning: { effort: 'low', budgetTokens: null, shown: true }, verbosity: 'low', user: 'u' },
});
const format = {
  kind: 'json-schema',
  name: 'n',
  // One description has no null for it, which its own servers send (test/specs/amendments.ts).
  description: 'd',
  schema: parameters,
  strict: true,
} as const;
const askedOwn = turnOf({ ...asked, tools: [fn, custom], settings: { outputFormat: format } });

function answerOf(content: readonly Block[], reason: Finish['reason'], counted = true): TurnAnswer {
  const finish = { reason, rawReason: null, stopSequence: null, usage: counted ? usage : null };
  return { answerId: null, model: 'm', content, finish };
}

const cases: readonly { readonly answer: TurnAnswer; readonly turn: Turn; readonly isOwn?: true }[] = [
  { answer: answerOf(shared, 'tool-calls'), turn: asked },
  { answer: answerOf(shared, 'length'), turn: turnOf({ surface: responsesSurface }) },
  { answer: answerOf([], 'content-filter', false), turn: asked },
  { answer: answerOf([text('x')], 'error', false), turn: asked },
  { answer: answerOf([...shared, ...own], 'stop'), turn: askedOwn, isOwn: true },
];

/** One description wants the member, null or not; the other knows no null for it, which its own servers send. */
const nullUsage = /^(\/response)?\/usage must be object$/;

function hasNullUsage(value: unknown): boolean {
  const { response = value } = recordOf(value);
  return recordOf(response)['usage'] === null;
}

function eventsOf(stream: string): readonly WireRecord[] {
  return framesOf(stream).map((frame) => recordOf(JSON.parse(readSseEvent(frame).data ?? '')));
}

/** The descriptions of events by the type each is for. */
function eventSchemas(schemas: WireRecord): ReadonlyMap<string, string> {
  const names = Object.entries(schemas).map(([name, schema]): [string, string] => {
    const [type] = listOf(recordOf(recordOf(recordOf(schema)['properties'])['type'])['enum']);
    return [/Event$/.test(name) ? (stringOf(type) ?? '') : '', name];
  });
  return new Map(names);
}

function heldAgainst({ name, response }: Published): void {
  const document: unknown = JSON.parse(readFileSync(new URL(name, reference), 'utf8'));
  const schemas = recordOf(recordOf(recordOf(document)['components'])['schemas']);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(isRecord(document) ? { ...document, $id: 'published' } : {});
  const types = eventSchemas(schemas);

  function errorsOf(schema: string, value: unknown): readonly string[] {
    const validate = ajv.getSchema(`published#/components/schemas/${schema}`);
    if (validate === undefined) throw new Error(`there is no schema ${schema}`);
    if (validate(value) === true) return [];
    const errors = (validate.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
    );
    return errors.filter((error) => !(hasNullUsage(value) && nullUsage.test(error)));
  }

  const known = cases.filter(({ isOwn }) => isOwn === undefined || response === 'Response');

  test.each(known)('a whole answer, %#', ({ answer, turn }) => {
    const body = responsesCodec.writeAnswer(answer, writerContext(turn));
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    expect(errorsOf(response, value)).toEqual([]);
    expect(errorsOf(response, { ...recordOf(value), tools: undefined })).not.toEqual([]);
  });

  test.each(known)('every event of a stream, %#', ({ answer, turn }) => {
    const events = eventsOf(writeEvents(answerEvents(answer), writerContext(turn)));
    expect(events.length).toBeGreaterThan(2);
    for (const event of events) {
      const schema = types.get(String(event['type']));
      expect(schema, String(event['type'])).toBeDefined();
      expect(errorsOf(schema ?? '', event), String(event['type'])).toEqual([]);
    }
  });
}

test('every member that the descriptions require of a message is there, also without them', () => {
  const { answer, turn } = cases[0] ?? { answer: answerOf(shared, 'stop'), turn: asked };
  const required = {
    message: ['content', 'id', 'role', 'status', 'type'],
    reasoning: ['encrypted_content', 'id', 'summary', 'type'],
    function_call: ['arguments', 'call_id', 'id', 'name', 'status', 'type'],
  };
  const value = recordOf(
    JSON.parse(new TextDecoder().decode(responsesCodec.writeAnswer(answer, writerContext(turn)))),
  );
  for (const item of listOf(value['output']).map(recordOf)) {
    const expected = Object.entries(required).find(([type]) => type === item['type'])?.[1];
    expect(Object.keys(item).sort()).toEqual(expected);
  }
});

for (const one of published)
  whereFound(one.name, [one.name], () => describe(one.name, () => heldAgainst(one)));
