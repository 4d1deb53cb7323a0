import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { chatSurface } from '../../chat-completions/wire.ts';
import { messagesSurface } from '../../messages/wire.ts';
import { type ProtocolId, protocols } from '../../protocols.ts';
import { defaultDialect } from '../../request.ts';
import type { Surface } from '../../turn.ts';
import { recordOf, type WireRecord } from '../../wire-values.ts';
import { turnOf } from '../turn.fixture.ts';
import { fromNativeSchema } from './native-schema.ts';

/**
 * The ways a schema goes: `held` the answer is held to it; `looser` to a part of it, and the caller is told; `advice` it is asked for,
 * and the caller is told; `tool` as the arguments of a tool; `refused` with the place that is to blame.
 */
type Way = 'held' | 'looser' | 'advice' | 'tool' | `refused ${string}`;

interface Case {
  readonly name: string;
  readonly schema: WireRecord;
  /** An answer that says something everywhere: whatever is sent must admit it. */
  readonly sample: unknown;
  /** To chat-completions and responses, to messages, to newer native models, to older ones. */
  readonly ways: readonly [Way, Way, Way, Way];
}

const text = { type: 'string' };

/** A closed object of required properties. */
function closed(properties: WireRecord, more: WireRecord = {}): WireRecord {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  };
}

const tree = closed({ name: text, children: { type: 'array', items: { $ref: '#/$defs/tree' } } });
const list = {
  type: 'object',
  properties: { value: text, next: { $ref: '#/$defs/list' } },
  required: ['value'],
};

const cases: readonly Case[] = [
  {
    name: 'a flat object',
    schema: closed({ a: text }),
    sample: { a: 'x' },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'an object that may have more',
    schema: { type: 'object', properties: { a: text }, required: ['a'] },
    sample: { a: 'x' },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'a property that may be left out',
    schema: {
      type: 'object',
      properties: { a: text, b: text },
      required: ['a'],
      additionalProperties: false,
    },
    sample: { a: 'x' },
    ways: ['advice', 'held', 'held', 'held'],
  },
  {
    name: 'a property that may be null',
    schema: closed({ a: { type: ['string', 'null'] } }),
    sample: { a: null },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'an object that says it may have more',
    schema: { ...closed({ a: text }), additionalProperties: true },
    sample: { a: 'x', more: 1 },
    ways: ['advice', 'tool', 'held', 'refused additionalProperties'],
  },
  {
    name: 'a map of texts',
    schema: closed({ tags: { type: 'object', additionalProperties: text } }),
    sample: { tags: { k: 'v' } },
    ways: ['advice', 'tool', 'held', 'refused properties.tags.additionalProperties'],
  },
  {
    name: 'a map at the root',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    sample: { k: 1 },
    ways: ['advice', 'tool', 'held', 'refused additionalProperties'],
  },
  {
    name: 'an object of which nothing is said',
    schema: closed({ any: { type: 'object' } }),
    sample: { any: { k: 'v' } },
    ways: ['advice', 'tool', 'held', 'refused properties.any.properties'],
  },
  {
    name: 'anything at all',
    schema: closed({ any: {} }),
    sample: { any: { k: [1] } },
    ways: ['advice', 'tool', 'held', 'refused properties.any.type'],
  },
  {
    name: 'names that follow a pattern',
    schema: { type: 'object', patternProperties: { '^x-': text }, additionalProperties: false },
    sample: { 'x-a': 'v' },
    ways: ['advice', 'tool', 'looser', 'refused patternProperties'],
  },
  {
    name: 'a tree',
    schema: { $ref: '#/$defs/tree', $defs: { tree } },
    sample: { name: 'x', children: [{ name: 'y', children: [] }] },
    ways: [
      'advice',
      'tool',
      'refused $ref.properties.children.items.$ref',
      'refused $ref.properties.children.items.$ref',
    ],
  },
  {
    name: 'a list of links, the last of which has none',
    schema: closed({ head: { $ref: '#/$defs/list' } }, { $defs: { list } }),
    sample: { head: { value: 'a', next: { value: 'b' } } },
    ways: ['advice', 'tool', 'held', 'refused properties.head.$ref.properties.next.$ref'],
  },
  {
    name: 'a definition used twice',
    schema: closed({ a: { $ref: '#/$defs/t' }, b: { $ref: '#/$defs/t' } }, { $defs: { t: text } }),
    sample: { a: 'x', b: 'y' },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'a schema that is somewhere else',
    schema: closed({ a: { $ref: 'https://example.org/schema.json' } }),
    sample: undefined,
    ways: ['advice', 'tool', 'refused properties.a.$ref', 'refused properties.a.$ref'],
  },
  {
    name: 'one of two objects',
    schema: closed({ pet: { anyOf: [closed({ cat: text }), closed({ dog: text })] } }),
    sample: { pet: { dog: 'x' } },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'one of two at the root',
    schema: { anyOf: [closed({ cat: text }), closed({ dog: text })] },
    sample: { dog: 'x' },
    ways: ['advice', 'held', 'held', 'held'],
  },
  {
    name: 'both of two',
    schema: {
      allOf: [
        { type: 'object', properties: { a: text }, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    sample: { a: 'x', b: 'y' },
    ways: ['advice', 'tool', 'held', 'held'],
  },
  {
    name: 'a list at the root',
    schema: { type: 'array', items: text },
    sample: ['x'],
    ways: ['advice', 'tool', 'held', 'held'],
  },
  {
    name: 'places of a list, each of its kind',
    schema: closed({ pair: { type: 'array', prefixItems: [text, { type: 'integer' }] } }),
    sample: { pair: ['x', 1] },
    ways: ['advice', 'tool', 'held', 'refused properties.pair.prefixItems'],
  },
  {
    name: 'one of several words',
    schema: closed({ a: { type: 'string', enum: ['x', 'y'] } }),
    sample: { a: 'y' },
    ways: ['held', 'held', 'held', 'held'],
  },
  {
    name: 'one of several numbers',
    schema: closed({ a: { type: 'integer', enum: [1, 2] } }),
    sample: { a: 2 },
    ways: ['held', 'held', 'held', 'refused properties.a.enum'],
  },
  {
    name: 'a constant number',
    schema: closed({ a: { const: 1 } }),
    sample: { a: 1 },
    ways: ['held', 'held', 'held', 'refused properties.a.const'],
  },
  {
    name: 'a text that follows a pattern',
    schema: closed({ a: { type: 'string', pattern: '^x', maxLength: 9 } }),
    sample: { a: 'xy' },
    ways: ['advice', 'looser', 'looser', 'held'],
  },
  {
    name: 'anything but one',
    schema: closed({ a: { type: 'string', not: { const: 'x' } } }),
    sample: { a: 'y' },
    ways: ['advice', 'tool', 'looser', 'refused properties.a.not'],
  },
  {
    name: 'no properties, and no others',
    schema: closed({ none: { type: 'object', properties: {}, additionalProperties: false } }),
    sample: { none: {} },
    ways: ['held', 'held', 'held', 'held'],
  },
];

interface Sent {
  readonly way: Way;
  /** The schema as the upstream has it. */
  readonly schema: WireRecord | null;
  /** The answer is a member of it. */
  readonly isWrapped: boolean;
}

/** The way of a strict schema to an upstream, and what is sent there. */
function send(
  schema: WireRecord,
  id: Exclude<ProtocolId, 'images'>,
  upstreamModel: string,
  surface: Surface,
): Sent {
  const outputFormat = { kind: 'json-schema', name: 'x', description: null, schema, strict: true } as const;
  const turn = turnOf({ surface, settings: { outputFormat } });
  const about = {
    path: '/{model}',
    dialect: defaultDialect,
    origin: 'o',
    maxOutputTokens: null,
    reasoning: false,
  };
  const { codec } = protocols[id];
  if (codec === null) throw new Error(`${id} is never translated`);
  const written = codec.writeTurn(turn, { upstreamModel, ...about });
  if (!written.ok) {
    const place = /`([^`]*)`/.exec(written.error.message)?.[1] ?? '';
    return { way: `refused ${place}`, schema: null, isWrapped: false };
  }
  const { request, losses, answerTool = null } = written.value;
  const bytes = Buffer.concat(request.body).toString();
  const body = recordOf(JSON.parse(bytes));
  if (answerTool !== null) {
    const [tool] = body['tools'] as readonly WireRecord[];
    return { way: 'tool', schema: recordOf(tool?.['input_schema']), isWrapped: answerTool.isWrapped };
  }
  const { strict, schema: sent } = formatIn(body);
  const way = strict === false ? 'advice' : losses.length > 0 ? 'looser' : 'held';
  return { way, schema: sent, isWrapped: false };
}

/** The schema of an answer, from wherever a protocol has it. */
function formatIn(body: WireRecord): { readonly strict: unknown; readonly schema: WireRecord } {
  const chat = recordOf(recordOf(body['response_format'])['json_schema']);
  const responses = recordOf(recordOf(body['text'])['format']);
  const config = recordOf(body['generationConfig']);
  if ('schema' in chat) return { strict: chat['strict'], schema: recordOf(chat['schema']) };
  if ('schema' in responses) return { strict: responses['strict'], schema: recordOf(responses['schema']) };
  const { responseSchema, responseJsonSchema } = config;
  if (responseSchema !== undefined)
    return { strict: true, schema: fromNativeSchema(recordOf(responseSchema)) };
  if (responseJsonSchema !== undefined) return { strict: true, schema: recordOf(responseJsonSchema) };
  return { strict: true, schema: recordOf(recordOf(recordOf(body['output_config'])['format'])['schema']) };
}

const targets = [
  ['chat-completions', 'm', 0, messagesSurface],
  ['responses', 'm', 0, messagesSurface],
  ['messages', 'm', 1, chatSurface],
  ['generate-content', 'm-2.5-pro', 2, chatSurface],
  ['generate-content', 'm-2.0-flash', 3, chatSurface],
] as const;

describe.each(targets)('a strict schema at %s, %s', (id, upstreamModel, column, surface) => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_, { schema, sample, ways }) => {
    const sent = send(schema, id, upstreamModel, surface);
    expect(sent.way).toBe(ways[column]);
    if (sent.schema === null || sample === undefined) return;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(sent.schema);
    const given = sent.isWrapped ? { value: sample } : sample;
    // An answer that says something is admitted: none is left that could only be empty.
    expect(validate(given), JSON.stringify([sent.schema, validate.errors])).toBe(true);
  });
});
