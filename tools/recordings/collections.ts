import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProtocolId } from '@headgate/protocols';
import { z } from 'zod';
import { readCassette } from './cassettes.ts';
import { protocolAt, type Recording, requestTo } from './recording.ts';

const encoder = new TextEncoder();

/** Every recorded exchange below the folder; empty when it is not there. */
export function readRecordings(folder: string): readonly Recording[] {
  if (!existsSync(folder)) return [];
  const cassettes = ['pydantic-ai-cassettes', 'envoy-openai-cassettes'].flatMap((collection) =>
    filesIn(folder, collection, '**/*.yaml').flatMap((file) => readCassette(collection, file)),
  );
  const native = filesIn(folder, 'js-genai-recordings', '*.json').flatMap(readNativeRecording);
  const fixtures = filesIn(folder, 'vercel-ai', '**/__fixtures__/*').flatMap(readFixture);
  return [...cassettes, ...native, ...fixtures];
}

function filesIn(folder: string, collection: string, pattern: string): readonly string[] {
  return globSync(join(folder, collection, pattern)).sort();
}

const nativeRecording = z.object({
  interactions: z.array(
    z.object({
      request: z.object({ url: z.string(), bodySegments: z.array(z.unknown()).default([]) }),
      response: z.object({
        statusCode: z.number(),
        headers: z.record(z.string(), z.string()),
        bodySegments: z.array(z.unknown()).default([]),
      }),
    }),
  ),
});

/** Recordings of the native SDK keep the JSON of each event; the framing is put back as its server frames them. */
function readNativeRecording(file: string): readonly Recording[] {
  const { interactions } = nativeRecording.parse(JSON.parse(readFileSync(file, 'utf8')));
  return interactions.flatMap(({ request, response }, index) => {
    const protocol = protocolAt(request.url);
    if (protocol === null || response.bodySegments.length === 0) return [];
    const isStream = /event-stream/.test(response.headers['Content-Type'] ?? '');
    const [whole] = response.bodySegments;
    const body = isStream
      ? response.bodySegments.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')
      : JSON.stringify(whole, null, 2);
    return [
      {
        name: `${file.split('/').slice(-1).join()}#${index}`,
        collection: 'js-genai-recordings',
        protocol,
        request: requestTo(request.url, encoder.encode(JSON.stringify(request.bodySegments[0] ?? {}))),
        answer: {
          status: response.statusCode,
          kind: isStream ? ('stream' as const) : ('json' as const),
          body: encoder.encode(body),
        },
      },
    ];
  });
}

/** Which folders of fixtures hold which protocol. The others are of protocols that Headgate does not speak. */
const fixtureFolders: readonly (readonly [RegExp, ProtocolId])[] = [
  [/\/azure-deepseek-/, 'chat-completions'],
  [/\/(openai|xai|open-responses)\/src\/responses\//, 'responses'],
  [/\/azure\/src\//, 'responses'],
  [/\/anthropic\/src\/__fixtures__\//, 'messages'],
  [/\/google(-vertex)?\/src\/__fixtures__\//, 'generate-content'],
  [/\/openai\/src\/image\//, 'images'],
  [/\/(openai|deepseek|openai-compatible)\/src\/chat\//, 'chat-completions'],
  [/\/(alibaba|groq|mistral|moonshotai|perplexity|xai)\/src\/__fixtures__\//, 'chat-completions'],
];

/** Files that are not what their folder is for: other endpoints, and one that was written by hand and is no JSON. */
const otherFixtures =
  /transcription|embedding|video|speech|rerank|-files?-upload|-error\.json$|parallel-tool-call-wrapper/;

/** Fixtures keep one event a line; the framing is put back. */
function readFixture(file: string): readonly Recording[] {
  const protocol = fixtureFolders.find(([pattern]) => pattern.test(file))?.[1];
  if (protocol === undefined || otherFixtures.test(file)) return [];
  const text = readFileSync(file, 'utf8').trim();
  const isStream = !file.endsWith('.json');
  const isFramed = /^(data|event):/.test(text);
  const body = isStream && !isFramed ? framed(text, protocol) : `${text}\n\n`;
  const status = isStream ? 200 : statusOf(text);
  return [
    {
      name: file.split('/').slice(-1).join(),
      collection: 'vercel-ai',
      protocol,
      request: null,
      answer: { status, kind: isStream ? 'stream' : 'json', body: encoder.encode(body) },
    },
  ];
}

const errorFixture = z.object({ error: z.object({ code: z.number().optional() }) });

/** A fixture of an error has no status beside it. */
function statusOf(text: string): number {
  const error = errorFixture.safeParse(JSON.parse(text));
  return error.success ? (error.data.error.code ?? 400) : 200;
}

const named = z.object({ type: z.string() });

function framed(lines: string, protocol: ProtocolId): string {
  const events = lines.split('\n').filter((line) => line.trim() !== '');
  switch (protocol) {
    case 'generate-content':
      return events.map((line) => `data: ${line}\r\n\r\n`).join('');
    case 'messages':
    case 'responses':
      return events.map((line) => `event: ${nameOf(line)}\ndata: ${line}\n\n`).join('');
    default:
      return `${events.map((line) => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`;
  }
}

function nameOf(line: string): string {
  try {
    return named.parse(JSON.parse(line)).type;
  } catch {
    return 'garbled';
  }
}
