/*
 * Schemas that callers hold answers to, each with an answer that says something everywhere: whatever an upstream is told must admit
 * it. What each vendor can be held to is said beside it, from their references.
 */

type Schema = Readonly<Record<string, unknown>>;

export interface CorpusSchema {
  readonly name: string;
  readonly schema: Schema;
  readonly sample: unknown;
  /** True where vendors' own forms would give the words another meaning: maps, recursion, objects of which nothing is said. */
  readonly isOpen: boolean;
}

const text = { type: 'string' };

function closed(properties: Schema, more: Schema = {}): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  };
}

const tree = closed({ name: text, children: { type: 'array', items: { $ref: '#/$defs/tree' } } });

export const corpusSchemas: readonly CorpusSchema[] = [
  { name: 'flat', schema: closed({ a: text }), sample: { a: 'x' }, isOpen: false },
  {
    name: 'nested',
    schema: closed({ list: { type: 'array', items: closed({ n: { type: 'integer' }, word: text }) } }),
    sample: { list: [{ n: 1, word: 'x' }] },
    isOpen: false,
  },
  {
    name: 'words',
    schema: closed({ a: { type: 'string', enum: ['x', 'y'] }, b: { type: ['string', 'null'] } }),
    sample: { a: 'y', b: null },
    isOpen: false,
  },
  {
    name: 'map',
    schema: closed({ tags: { type: 'object', additionalProperties: text } }),
    sample: { tags: { k: 'v' } },
    isOpen: true,
  },
  {
    name: 'tree',
    schema: { $ref: '#/$defs/tree', $defs: { tree } },
    sample: { name: 'x', children: [{ name: 'y', children: [] }] },
    isOpen: true,
  },
  {
    name: 'anything',
    schema: closed({ any: { type: 'object' } }),
    sample: { any: { k: 'v' } },
    isOpen: true,
  },
];
