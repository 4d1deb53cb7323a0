import { z } from 'zod';
import type { Description } from './published-schemas.ts';

/**
 * Published descriptions contradict each other or the servers they describe in places; this is held there instead. Each one has a
 * value that real servers send, and which only the amended description allows.
 */
export interface Amendment {
  readonly description: Description;
  readonly schema: string;
  /** The place within the schema. */
  readonly path: readonly (string | number)[];
  readonly amend: (schema: unknown) => unknown;
  readonly reason: string;
  /** For the schema at the path. */
  readonly example: unknown;
}

/** An object's schema, with one member more. */
function withMember(schema: unknown, name: string, member: object): object {
  const { properties, ...rest } = z.looseObject({ properties: z.looseObject({}) }).parse(schema);
  return { ...rest, properties: { ...properties, [name]: member } };
}

const orNull = (schema: unknown) => ({ anyOf: [schema, { type: 'null' }] });

export const amendments: readonly Amendment[] = [
  {
    description: 'openai',
    schema: 'Response',
    path: ['allOf', 2, 'properties', 'usage'],
    amend: orNull,
    reason:
      'Open Responses requires the member and has null for it while a response is made; recorded servers send that null in every created and in_progress event.',
    example: null,
  },
  {
    description: 'openai',
    schema: 'TextResponseFormatJsonSchema',
    path: ['properties', 'description'],
    amend: orNull,
    reason:
      'Open Responses requires the member of a response; recorded servers repeat a format without a description with null.',
    example: null,
  },
  {
    description: 'open-responses',
    schema: 'JsonSchemaResponseFormat',
    path: ['properties', 'schema'],
    amend: () => ({ type: 'object' }),
    reason:
      'It allows nothing but null where the schema is; recorded servers repeat the schema, as the other description has it.',
    example: { type: 'object' },
  },
  {
    description: 'open-responses',
    schema: 'ReasoningEffortEnum',
    path: [],
    amend: () => ({ enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] }),
    reason: 'The other description lists two words more, and servers repeat the word they were sent.',
    example: 'max',
  },
  {
    description: 'openai',
    schema: 'ChatCompletionMessageToolCallChunk',
    path: ['properties', 'type'],
    amend: () => ({ enum: ['function', 'custom'] }),
    reason: 'A whole answer has calls of custom tools, and what is streamed is the same answer.',
    example: 'custom',
  },
  {
    description: 'openai',
    schema: 'UrlCitationBody',
    path: ['properties', 'url'],
    amend: () => ({ type: 'string' }),
    reason: 'Sources are repeated as the upstream names them; recorded servers do so with spaces in them.',
    example: 'https://search.example/?q=San Francisco',
  },
  {
    description: 'openai',
    schema: 'ChatCompletionResponseMessage',
    path: ['properties', 'annotations', 'items', 'properties', 'url_citation', 'properties', 'url'],
    amend: () => ({ type: 'string' }),
    reason: 'As above.',
    example: 'https://search.example/?q=San Francisco',
  },
  {
    description: 'vertex',
    schema: 'GenerateContentRequest',
    path: [],
    amend: (schema) => withMember(schema, 'serviceTier', { type: 'string' }),
    reason: 'The member is one of the other server of this protocol, which has no description of this kind.',
    example: { serviceTier: 'flex' },
  },
];
