import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { z } from 'zod';
import { protocolAt, type RecordedAnswer, type Recording, requestTo } from './recording.ts';

const encoder = new TextEncoder();

const headers = z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({});

/** The form that Python's and Go's recorders have in common. Bodies are text, base64 of bytes, or JSON already parsed. */
const interaction = z.object({
  request: z.object({
    uri: z.string().optional(),
    url: z.string().optional(),
    method: z.string(),
    body: z.unknown().optional(),
    parsed_body: z.unknown().optional(),
  }),
  response: z.object({
    status: z.union([z.object({ code: z.number() }), z.string()]).optional(),
    code: z.number().optional(),
    headers,
    body: z.unknown().optional(),
    parsed_body: z.unknown().optional(),
  }),
});

type Interaction = z.infer<typeof interaction>;

/** Some exchanges are of other kinds, such as calls over gRPC. */
const cassette = z.object({ interactions: z.array(interaction.nullable().catch(null)) });

/** The exchanges of a cassette of which we speak the protocol. */
export function readCassette(collection: string, file: string): readonly Recording[] {
  const { interactions } = cassette.parse(parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }));
  return interactions.flatMap((exchange, index) => {
    if (exchange === null) return [];
    const url = exchange.request.uri ?? exchange.request.url ?? '';
    const protocol = protocolAt(url);
    if (protocol === null || exchange.request.method !== 'POST') return [];
    const body = bodyOf(exchange.request);
    return [
      {
        name: `${file.split('/').slice(-2).join('/')}#${index}`,
        collection,
        protocol,
        request: body === null ? null : requestTo(url, body),
        answer: answerOf(exchange),
      },
    ];
  });
}

function answerOf({ response }: Interaction): RecordedAnswer | null {
  const body = bodyOf(response);
  if (body === null) return null;
  const status = response.code ?? (typeof response.status === 'object' ? response.status.code : 200);
  const kind = isEventStream(body) ? 'stream' : 'json';
  return { status, kind, body };
}

function isEventStream(body: Uint8Array): boolean {
  return /^\s*(event|data|id)?:/.test(new TextDecoder().decode(body.subarray(0, 40)));
}

function bodyOf(message: { readonly body?: unknown; readonly parsed_body?: unknown }): Uint8Array | null {
  const { body, parsed_body: parsed } = message;
  if (parsed !== undefined && parsed !== null)
    return typeof parsed === 'string' ? encoder.encode(parsed) : encoder.encode(JSON.stringify(parsed));
  const text = typeof body === 'object' && body !== null && 'string' in body ? body.string : body;
  if (text instanceof Uint8Array) return unzipped(text);
  return typeof text === 'string' && text !== '' ? encoder.encode(text) : null;
}

function unzipped(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}
