import { z } from 'zod';
import { apiPrefix } from './console-api.ts';
import type { Access, AnyRouteSpec } from './route.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The parts of JSON Schema that zod writes. */
export interface SchemaJson {
  readonly $ref?: string;
  readonly anyOf?: readonly SchemaJson[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly items?: SchemaJson;
  readonly properties?: Readonly<Record<string, SchemaJson>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaJson;
  readonly description?: string;
}

type Content = Readonly<Record<string, { readonly schema: SchemaJson }>>;

/** One route, as the description has it. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly 'x-access': Access;
  readonly 'x-fresh'?: true;
  readonly security: readonly JsonObject[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: SchemaJson;
  }[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/** OpenAPI 3.1, as far as this description needs it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly JsonObject[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaJson>>;
    readonly securitySchemes: JsonObject;
  };
}

const problemSchema = z
  .strictObject({
    type: z.string().meta({ description: 'Where the description tells of this code.' }),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: 'Never changes: for programs.' }),
    detail: z.string().meta({ description: 'Says how to mend it: for people.' }),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Members that are wrong, each by its path.' }),
  })
  .meta({ id: 'Problem', description: 'An answer in the place of the one that was asked for (RFC 9457).' });

/** The description of all routes, from the schemas by which they read and answer. */
export function openApiDocument(specs: readonly AnyRouteSpec[]): OpenApiDocument {
  const components: Record<string, SchemaJson> = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => refOf(schema, io, components);
  const problemRef = schemaOf(problemSchema, 'output');
  const paths: Record<string, Record<string, Operation>> = {};
  for (const spec of specs) {
    const path = `${apiPrefix}${spec.path}`;
    paths[path] = { ...paths[path], [spec.method]: operationOf(spec, schemaOf, problemRef) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Headgate console',
      version: '1',
      description:
        'All that the console shows and changes. Times are ISO 8601 in UTC, amounts exact decimals as text in US dollars. Lists come in pages: `next` of one is `cursor` of the next.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(specs.map(({ tag }) => tag))].toSorted().map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
      securitySchemes: {
        operatorToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The file operator-token of the data directory.',
        },
        session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'Set by signing in.' },
      },
    },
  };
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => SchemaJson;

function operationOf(spec: AnyRouteSpec, schemaOf: SchemaOf, problemRef: SchemaJson): Operation {
  const { tag, summary, description, access, method, path, fresh = false } = spec;
  const body = spec.body ?? spec.rawBody;
  return {
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-access': access,
    ...(fresh ? { 'x-fresh': true } : {}),
    security: access === 'anyone' ? [] : [{ operatorToken: [] }, { session: [] }],
    parameters: parametersOf(spec, schemaOf),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(body, 'input') } },
          },
        }),
    responses: {
      ...successOf(spec, schemaOf),
      default: {
        description: 'Why it was not done.',
        content: { 'application/problem+json': { schema: problemRef } },
      },
    },
  };
}

function successOf(spec: AnyRouteSpec, schemaOf: SchemaOf): Operation['responses'] {
  const { answer, produces, creates = false } = spec;
  if (produces !== undefined)
    return { 200: { description: 'As asked for.', content: { [produces]: { schema: { type: 'string' } } } } };
  if (answer === null) return { 204: { description: 'It was done.' } };
  const content = { 'application/json': { schema: schemaOf(answer, 'output') } };
  return { [creates ? 201 : 200]: { description: creates ? 'It was made.' : 'As asked for.', content } };
}

function parametersOf(spec: AnyRouteSpec, schemaOf: SchemaOf): Operation['parameters'] {
  const names = [...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const { properties = {}, required = [] } = spec.query === undefined ? {} : schemaOf(spec.query, 'input');
  const isChange = spec.method !== 'get' && spec.method !== 'post';
  return [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(properties).map(([name, { description, ...schema }]) => ({
      ...{ name, in: 'query', required: required.includes(name) },
      ...(description === undefined ? {} : { description }),
      schema,
    })),
    ...(isChange
      ? [headerParameter('If-Match', 'The `ETag` of what was read: 412 where it has changed since.')]
      : []),
    ...(spec.creates === true
      ? [
          headerParameter(
            'Idempotency-Key',
            'A name of your own: under one name it is made once within a day.',
          ),
        ]
      : []),
  ];
}

function headerParameter(name: string, description: string): Operation['parameters'][number] {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}

/** `get-accounts-id-postings`. */
function operationId(method: string, path: string): string {
  return [method, ...path.split(/[/{}]+/)].filter((part) => part !== '').join('-');
}

/** The schema, or a reference where it has a name; named ones within it are gathered. */
function refOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Record<string, SchemaJson>,
): SchemaJson {
  const written = z.toJSONSchema(schema, {
    ...{ target: 'draft-2020-12', io, unrepresentable: 'any', reused: 'inline' },
  });
  // Only references are changed, so it is what zod wrote: JSON Schema.
  const { $schema: _, $defs = {}, id: __, ...rest } = rewriteRefs(written) as WrittenSchema;
  for (const [name, { id: ___, ...definition }] of Object.entries($defs)) components[name] = definition;
  const { id } = schema.meta() ?? {};
  if (id === undefined) return rest;
  // One that names itself is among the definitions already.
  if (rest.$ref === undefined) components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

interface WrittenSchema extends SchemaJson {
  readonly $schema?: string;
  readonly id?: string;
  readonly $defs?: Readonly<Record<string, WrittenSchema>>;
}

function rewriteRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewriteRefs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string'
        ? each.replace('#/$defs/', '#/components/schemas/')
        : rewriteRefs(each),
    ]),
  );
}
