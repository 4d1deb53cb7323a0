import { fileURLToPath } from 'node:url';
import {
  type Codec,
  defaultDialect,
  noSettings,
  type ProtocolId,
  protocols,
  SseSplitter,
  type Turn,
} from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { readRecordings } from '../../tools/recordings/collections.ts';
import type { RecordedAnswer, Recording } from '../../tools/recordings/recording.ts';
import { reference, whereFound } from '../support/reference.ts';
import { framesOf } from './ask.ts';
import { type Description, descriptionFiles, PublishedSchemas } from './published-schemas.ts';
import { type Described, surfaces } from './surfaces.ts';

const recordings = readRecordings(fileURLToPath(reference));

const dialect = { ...defaultDialect, streamEnd: 'finish-reason' as const };
const traceId = '0123456789abcdef0123456789abcdef';
const readerContext = { origin: 'recorded', dialect, names: new Map(), traceId };
const decoder = new TextDecoder();

/**
 * The schema of a request in the description of each protocol. That of responses is left out: it wants of everything an
 * assistant has said the id and the status that only the server that said it can know.
 */
const requests: readonly (readonly [ProtocolId, Description, string])[] = [
  ['chat-completions', 'openai', 'CreateChatCompletionRequest'],
  ['messages', 'anthropic', 'CreateMessageParams'],
  ['generate-content', 'vertex', 'GenerateContentRequest'],
];

const target = {
  upstreamModel: 'upstream-model',
  path: '/path',
  dialect: { ...defaultDialect, chatVocabulary: 'own' as const },
  origin: 'recorded',
  maxOutputTokens: 4096,
};

/** As much of a request as an answer needs that was recorded without one. */
const someTurn: Turn = {
  surface: codecOf('chat-completions').surface,
  model: 'm',
  stream: true,
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  settings: noSettings,
  spelling: {},
  extensions: [],
};

function codecOf(id: ProtocolId): Codec {
  return protocols[id]?.codec ?? expect.fail(`${id} has no codec`);
}

function writerContext(recording: Recording) {
  return {
    turn: turnOf(recording) ?? someTurn,
    traceId,
    createdS: 1_700_000_000,
    wantsUsageFrame: true,
    framing: 'sse' as const,
    inputTokensEstimate: 10,
  };
}

function turnOf({ request, protocol }: Recording): Turn | null {
  if (request === null || protocol === 'images') return null;
  const [, model = '', action = ''] = /models\/([^/:]+):(\w+)$/.exec(request.path) ?? [];
  const input = { ...request, params: { model, action }, header: () => undefined, work: 'answer' as const };
  const turn = codecOf(protocol).readTurn(input);
  return turn.ok ? turn.value : null;
}

/** The gateway would translate the answer that the recording holds. */
function isAnswer({ protocol, answer }: Recording): boolean {
  if (answer === null || answer.status >= 400) return false;
  const { openStream, readAnswer } = protocols[protocol] ?? expect.fail(`${protocol} is not spoken`);
  if (answer.kind === 'json') return readAnswer(answer.body, dialect).kind === 'answer';
  const reader = openStream(dialect);
  const roles = splitFrames(answer).map((frame) => reader.read(frame));
  return (
    !roles.includes('error') &&
    !roles.includes('garbled') &&
    (roles.includes('terminal') || reader.isWholeWithoutTerminal())
  );
}

function splitFrames({ body }: RecordedAnswer): readonly Uint8Array[] {
  const splitter = new SseSplitter();
  const frames: Uint8Array[] = [];
  splitter.push(body, (frame) => frames.push(frame));
  return [...frames, splitter.rest()].filter(({ length }) => length > 0);
}

/** Finds mistakes in the answer as a caller of the surface gets it. */
function errorsOf(
  recording: Recording,
  surface: ProtocolId,
  described: Described,
  schemas: PublishedSchemas,
): readonly string[] {
  const { answer, protocol } = recording;
  if (answer === null) return [];
  const upstream = codecOf(protocol);
  const caller = codecOf(surface);
  const context = writerContext(recording);
  if (answer.kind === 'json') {
    const whole = caller.writeAnswer(upstream.readAnswer(answer.body, readerContext), context);
    return schemas.errors(described.whole, JSON.parse(decoder.decode(whole)));
  }
  const reader = upstream.openReader(readerContext);
  const writer = caller.openWriter(context);
  const events = [...splitFrames(answer).flatMap((frame) => [...reader.read(frame)]), ...reader.end()];
  const text = events.map((event) => writer.write(event)).join('') + writer.end();
  return framesOf(text).flatMap((frame) => schemas.frameErrors(described.frame, frame));
}

function holdAnswers(): void {
  const answers = recordings.filter((recording) => recording.protocol !== 'images' && isAnswer(recording));
  const described = Object.values(surfaces).flatMap(({ protocol, descriptions }) =>
    descriptions.map((one) => ({ surface: protocol, ...one })),
  );

  describe.each(described)('$surface as $description has it', ({ surface, ...one }) => {
    const schemas = new PublishedSchemas(one.description);
    const protocolsOfOthers = new Set(answers.map(({ protocol }) => protocol).filter((id) => id !== surface));

    test.each([...protocolsOfOthers])('what servers have answered in %s', (protocol) => {
      const group = answers.filter((recording) => recording.protocol === protocol);
      const errors = group.flatMap((recording) =>
        errorsOf(recording, surface, one, schemas).map((error) => `${recording.name}: ${error}`),
      );
      expect(errors).toEqual([]);
    });
  });
}

function holdRequests(): void {
  // Not those that their own server found wrong.
  const asked = recordings
    .filter(({ answer }) => answer === null || answer.status < 400)
    .flatMap((recording) => ({ name: recording.name, turn: turnOf(recording) }));

  test.each(requests)('what is sent on to %s is as %s has it', (upstream, description, schema) => {
    const schemas = new PublishedSchemas(description);
    const foreign = asked.filter(({ turn }) => turn !== null && turn.surface.id !== upstream);
    let sent = 0;
    const errors = foreign.flatMap(({ turn, name }) =>
      [false, true].flatMap((reasoning) => {
        const written = turn && codecOf(upstream).writeTurn(turn, { ...target, reasoning });
        if (!written?.ok) return [];
        sent += 1;
        const body: unknown = JSON.parse(Buffer.concat(written.value.request.body).toString());
        return schemas.errors(schema, body).map((error) => `${name}: ${error}`);
      }),
    );
    expect(sent).toBeGreaterThan(foreign.length);
    expect(errors).toEqual([]);
  });
}

whereFound('what was recorded is translated as it is published', [...descriptionFiles, 'vercel-ai/'], () => {
  test('there are recordings', () => expect(recordings.length).toBeGreaterThan(100));
  holdAnswers();
  holdRequests();
});
