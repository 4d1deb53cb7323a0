import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { reference } from '../support/reference.ts';
import { type Amendment, amendments } from './amendments.ts';

const documents = {
  openai: 'specs/openai-openapi-2.3.0.json',
  'open-responses': 'specs/openresponses-2026-04-24.json',
  anthropic: 'specs/anthropic-openapi-2026-08.json',
  vertex: 'specs/vertex-generatecontent.schema.json',
} as const;

export type Description = keyof typeof documents;

/** The files of all of them, among the reference data. */
export const descriptionFiles: readonly string[] = Object.values(documents);

type Schemas = Readonly<Record<string, unknown>>;

const openApi = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });

const eventSchema = z.object({
  properties: z.object({
    type: z.object({ const: z.string().optional(), enum: z.array(z.string()).optional() }),
  }),
});

/** One published description, amended, ready to be held against values. */
export class PublishedSchemas {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, formats: { unixtime: true } });
  readonly #eventNames: ReadonlyMap<unknown, string>;

  constructor(description: Description, using: readonly Amendment[] = amendments) {
    const text = readFileSync(new URL(documents[description], reference), 'utf8');
    const { schemas } = openApi.parse(JSON.parse(text, withNull)).components;
    for (const { schema, path, amend } of using.filter((amendment) => amendment.description === description))
      amendAt(schemas, [schema, ...path], amend);
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'published', components: { schemas } });
    this.#eventNames = eventNames(schemas);
  }

  /** The mistakes of the value, as places and words; empty when there are none. `within`: of the schema's part there. */
  errors(schema: string, value: unknown, within: readonly (string | number)[] = []): readonly string[] {
    const validate = this.#validator(['components', 'schemas', schema, ...within].join('/'));
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** The same of a frame of a stream; `schema` is null where each event has one of its own, by its type. */
  frameErrors(schema: string | null, frame: unknown): readonly string[] {
    const type = typeof frame === 'object' && frame !== null && 'type' in frame ? frame.type : null;
    const name = schema ?? this.#eventNames.get(type);
    return name === undefined ? [`no such event: ${String(type)}`] : this.errors(name, frame);
  }

  #validator(pointer: string): ValidateFunction {
    const validate = this.#ajv.getSchema(`published#/${pointer}`);
    if (validate === undefined) throw new Error(`there is no schema at ${pointer}`);
    return validate;
  }
}

/** Events of streams by their type; those of betas and of other transports have the same types. */
function eventNames(schemas: Schemas): ReadonlyMap<unknown, string> {
  const names = Object.keys(schemas).filter((name) => /^(?!Beta|WebSocket).*Event$|^Ping$/.test(name));
  return new Map(
    names.map((name) => {
      const { data } = eventSchema.safeParse(schemas[name]);
      return [data?.properties.type.const ?? data?.properties.type.enum?.[0], name];
    }),
  );
}

/** Says in the words of JSON Schema that null is allowed, as the descriptions do in those of their format. */
function withNull(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
  const { nullable, ...schema } = value;
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : value;
}

function amendAt(root: unknown, path: readonly (string | number)[], amend: Amendment['amend']): void {
  const [step = '', ...rest] = path;
  if (typeof root !== 'object' || root === null || !(step in root))
    throw new Error(`nothing at ${path.join('/')}`);
  const inner: unknown = Reflect.get(root, step);
  if (rest.length === 0) Reflect.set(root, step, amend(inner));
  else amendAt(inner, rest, amend);
}
