import {
  type AnswerReading,
  type Codec,
  type Dialect,
  defaultDialect,
  type FrameRole,
  noSettings,
  type Protocol,
  type ProtocolId,
  protocols,
  type Reading,
  SseSplitter,
  type Turn,
  type TurnEvent,
  totalInput,
  totalOutput,
  type WriterContext,
} from '@headgate/protocols';
import { chargeProblem } from './charges.ts';
import type { RecordedAnswer, Recording } from './recording.ts';
import { readSeeds, seedOf } from './seeds.ts';

/** The checks of a recording, in the report's order. */
export const checkNames = ['decode', 'relay', 'meter', 'charge', 'seed', 'request', 'translate'] as const;

export type CheckName = (typeof checkNames)[number];

/** The result of one check: how much of it there was to do, and what was wrong. */
export interface Checked {
  readonly check: CheckName;
  readonly done: number;
  readonly problems: readonly string[];
}

/** Compatible servers end a stream in several manners; here each is taken as it is. */
const dialect: Dialect = { ...defaultDialect, streamEnd: 'finish-reason' };

/** As the catalogue says of the vendor whose fixtures these are. */
const reasoningOutside: Dialect = { ...dialect, reasoningOutsideCompletion: true };

function dialectOf({ name }: Recording): Dialect {
  return /^xai-(text|tool-call)\./.test(name) ? reasoningOutside : dialect;
}

const traceId = '0123456789abcdef0123456789abcdef';

const readerContext = { origin: 'recorded', dialect, names: new Map(), traceId };

const surfaces = Object.values(protocols).filter(({ codec }) => codec !== null);

/** Runs every check that a recording lends itself to. A check that throws has found a bug. */
export function checkRecording(
  recording: Recording,
  names: readonly CheckName[] = checkNames,
): readonly Checked[] {
  const protocol = protocols[recording.protocol];
  if (protocol === undefined) throw new Error(`${recording.protocol} is not spoken`);
  const checks: readonly (readonly [CheckName, () => Omit<Checked, 'check'>])[] = [
    ['decode', () => decode(protocol, recording)],
    ['relay', () => relay(recording)],
    ['meter', () => meter(protocol, recording)],
    ['charge', () => charge(protocol, recording)],
    ['seed', () => seedCharge(protocol, recording)],
    ['request', () => writeRequests(protocol, recording)],
    ['translate', () => translateAnswer(protocol, recording)],
  ];
  const asked = checks.filter(([check]) => names.includes(check));
  return asked.map(([check, run]) => {
    try {
      return { check, ...run() };
    } catch (error) {
      return { check, done: 1, problems: [String(error instanceof Error ? error.stack : error)] };
    }
  });
}

const nothing = { done: 0, problems: [] };

interface Decoded {
  readonly reading: Reading | null;
  readonly roles: readonly FrameRole[];
  readonly problem: string | null;
}

function decodeAnswer(protocol: Protocol, answered: RecordedAnswer, spoken: Dialect): Decoded {
  const { status, kind, body } = answered;
  if (status >= 400) {
    const { kind: refusal, message } = protocol.readRefusal(status, body);
    return { reading: null, roles: [], problem: refusal === 'garbled' ? `garbled: ${message}` : null };
  }
  if (kind === 'stream') return decodeStream(protocol, body, spoken);
  const answer: AnswerReading = protocol.readAnswer(body, spoken);
  if (answer.kind === 'answer') return { reading: answer.reading, roles: [], problem: null };
  const { refusal } = answer;
  return {
    reading: null,
    roles: [],
    problem: refusal.kind === 'garbled' ? `garbled: ${refusal.message}` : null,
  };
}

function decodeStream(protocol: Protocol, body: Uint8Array, spoken: Dialect): Decoded {
  const reader = protocol.openStream(spoken, 'sse', 1);
  const roles = framesOf(body).map((frame) => reader.read(frame));
  const isWhole = roles.includes('terminal') || reader.isWholeWithoutTerminal();
  const isRefused = roles.includes('error');
  const garbled = roles.includes('garbled') ? `garbled: ${reader.refusal?.message}` : null;
  const cut = isWhole || isRefused ? null : 'neither whole nor refused';
  return { reading: isRefused ? null : reader.reading, roles, problem: garbled ?? cut };
}

/** Servers that were asked to answer with something else than the protocol's answer. */
const garbledOnPurpose = /test_openai\/test_(invalid|text)_response/;

function decode(protocol: Protocol, recording: Recording) {
  const { answer, name } = recording;
  if (answer === null) return nothing;
  const { problem } = decodeAnswer(protocol, answer, dialectOf(recording));
  const isExpected = (problem !== null) === garbledOnPurpose.test(name);
  return { done: 1, problems: isExpected ? [] : [problem ?? 'taken for an answer'] };
}

/** Cut into chunks of any size, the frames are the same and, end to end, the stream. */
function relay({ answer }: Recording) {
  if (answer === null || answer.kind !== 'stream') return nothing;
  const whole = framesOf(answer.body).map(textOf);
  const problems = [1, 2, 3, 7, 64, 1000].flatMap((size) => {
    const frames = framesOf(answer.body, size).map(textOf);
    if (frames.join('') !== textOf(answer.body)) return [`other bytes in chunks of ${size}`];
    const isSame = written(frames).join() === written(whole).join();
    return isSame ? [] : [`other frames in chunks of ${size}`];
  });
  return { done: 1, problems };
}

/** The content of each frame. Where a line end was cut in two, its second half belongs to the next frame. */
function written(frames: readonly string[]): readonly string[] {
  return frames.map((frame) => frame.trim()).filter((frame) => frame !== '');
}

/** The frames of a stream, the rest behind the last one included. */
function framesOf(body: Uint8Array, chunkBytes = body.length): readonly Uint8Array[] {
  const splitter = new SseSplitter();
  const frames: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += chunkBytes)
    splitter.push(body.slice(at, at + chunkBytes), (frame) => frames.push(frame));
  const rest = splitter.rest();
  return rest.length === 0 ? frames : [...frames, rest];
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The parts are whole and never negative, and their sums are what the provider says the sums are. */
function meter(protocol: Protocol, recording: Recording) {
  const { answer } = recording;
  if (answer === null) return nothing;
  const { reading } = decodeAnswer(protocol, answer, dialectOf(recording));
  if (reading === null || reading.usage === null) return nothing;
  const { usage } = reading;
  const parts = Object.entries(usage).filter(([, count]) => !Number.isSafeInteger(count) || count < 0);
  const stated = statedTotals(protocol.id, answer);
  const sums = stated
    .filter((total) => total.input + total.output > 0)
    .filter((total) => total.input !== totalInput(usage) || total.output !== totalOutput(usage));
  const problems = [
    ...parts.map(([name, count]) => `${name} is ${count}`),
    ...sums.map(
      (total) => `metered ${totalInput(usage)} + ${totalOutput(usage)}, stated ${JSON.stringify(total)}`,
    ),
    ...(usage.outputReasoning > usage.output ? ['more reasoning than output'] : []),
  ];
  return { done: 1, problems };
}

/** The charge of the answer, at prices that tell all classes apart, is that of an independent reading of its JSON. */
function charge(protocol: Protocol, recording: Recording) {
  const { answer } = recording;
  if (answer === null || answer.status >= 400) return nothing;
  const spoken = dialectOf(recording);
  const { reading } = decodeAnswer(protocol, answer, spoken);
  if (reading === null) return nothing;
  const problem = chargeProblem(recording.protocol, answer, reading, spoken.reasoningOutsideCompletion);
  return { done: 1, problems: problem === null ? [] : [problem] };
}

const seeds = readSeeds();

/** As `charge`, at the price that the catalogue comes with for the model that answered, where it has one. */
function seedCharge(protocol: Protocol, recording: Recording) {
  const { answer } = recording;
  if (answer === null || answer.status >= 400) return nothing;
  const spoken = dialectOf(recording);
  const { reading } = decodeAnswer(protocol, answer, spoken);
  const priced = seedOf(seeds, reading?.modelServed ?? '');
  if (reading === null || priced === null) return nothing;
  const outside = spoken.reasoningOutsideCompletion;
  const problem = chargeProblem(recording.protocol, answer, reading, outside, priced);
  return { done: 1, problems: problem === null ? [] : [problem] };
}

interface Totals {
  readonly input: number;
  readonly output: number;
}

/** The numbers of the last usage object of the answer, read without our meters. */
function statedTotals(protocol: ProtocolId, { body }: RecordedAnswer): readonly Totals[] {
  const text = Buffer.from(body).toString();
  const last = lastUsage(text, protocol === 'generate-content' ? 'usageMetadata' : 'usage');
  if (last === null) return [];
  const number = (...names: readonly string[]) =>
    names.reduce((sum, name) => sum + (typeof last[name] === 'number' ? last[name] : 0), 0);
  switch (protocol) {
    case 'chat-completions':
      return [{ input: number('prompt_tokens'), output: chatOutput(last, number) }];
    case 'responses':
    case 'images':
      return [{ input: number('input_tokens'), output: number('output_tokens') }];
    case 'messages':
      // A stream tells the input at its beginning, and what changed at its end.
      return text.startsWith('{') ? [messageTotals(last)] : [];
    case 'generate-content':
      return [
        {
          input: number('promptTokenCount', 'toolUsePromptTokenCount'),
          output: number('candidatesTokenCount', 'thoughtsTokenCount'),
        },
      ];
  }
}

/** With several models at work each has its own line, and the last one's is repeated as that of the whole. */
function messageTotals(usage: Readonly<Record<string, unknown>>): Totals {
  const { iterations } = usage;
  const lines = Array.isArray(iterations) && iterations.length > 0 ? iterations.filter(isRecord) : [usage];
  const sum = (...names: readonly string[]) =>
    lines.flatMap((line) => names.map((name) => Number(line[name] ?? 0))).reduce((a, b) => a + b, 0);
  return {
    input: sum('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
    output: sum('output_tokens'),
  };
}

/** Some servers count reasoning outside the completion, and then their total shows it. */
function chatOutput(usage: Readonly<Record<string, unknown>>, number: (name: string) => number): number {
  const completion = number('completion_tokens');
  const details = usage['completion_tokens_details'];
  const reasoning =
    typeof details === 'object' && details !== null && 'reasoning_tokens' in details
      ? Number(details.reasoning_tokens)
      : 0;
  return number('total_tokens') === number('prompt_tokens') + completion + reasoning && reasoning > 0
    ? completion + reasoning
    : completion;
}

function lastUsage(text: string, name: string): Readonly<Record<string, unknown>> | null {
  const documents = text.trimStart().startsWith('{') ? [text] : dataLines(text);
  for (const document of documents.toReversed()) {
    const found = findUsage(parsed(document), name);
    if (found !== null) return found;
  }
  return null;
}

function dataLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** At the top, or one level below, as in the response of an event. */
function findUsage(value: unknown, name: string): Readonly<Record<string, unknown>> | null {
  if (!isRecord(value)) return null;
  if (isRecord(value[name])) return value[name];
  const inner = Object.values(value).find((member) => isRecord(member) && isRecord(member[name]));
  return isRecord(inner) && isRecord(inner[name]) ? inner[name] : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A recorded request for every protocol: written, or refused by the name of a member; never an exception. */
function writeRequests({ codec, id }: Protocol, { request, name }: Recording) {
  if (codec === null || request === null) return nothing;
  const [, model = '', action = ''] = /models\/([^/:]+):(\w+)$/.exec(request.path) ?? [];
  const params = id === 'generate-content' ? { model, action } : {};
  const turn = codec.readTurn({ ...request, params, header: () => undefined, work: 'answer' });
  if (!turn.ok)
    return { done: 1, problems: turn.error.status === 400 ? [] : [`${name}: ${turn.error.message}`] };
  const problems = surfaces.flatMap((upstream) => {
    const written = upstream.codec?.writeTurn(turn.value, target);
    if (written === undefined) return [];
    if (!written.ok)
      return written.error.param === null ? [`refused without a name: ${written.error.message}`] : [];
    JSON.parse(Buffer.concat(written.value.request.body).toString());
    return [];
  });
  return { done: surfaces.length, problems };
}

const target = {
  upstreamModel: 'upstream-model',
  path: '/models/{model}:{action}',
  dialect,
  origin: 'recorded',
  maxOutputTokens: 4096,
  reasoning: true,
};

/** The answer for a caller of every surface, whole and as a stream. */
function translateAnswer(protocol: Protocol, { answer }: Recording) {
  const { codec } = protocol;
  if (codec === null || answer === null || answer.status >= 400) return nothing;
  const { reading, problem } = decodeAnswer(protocol, answer, dialect);
  if (reading === null || problem !== null) return nothing;
  const problems = surfaces.flatMap(({ codec: caller }) =>
    caller === null ? [] : answerProblems(codec, caller, answer),
  );
  return { done: surfaces.length, problems };
}

function answerProblems(upstream: Codec, caller: Codec, { kind, body }: RecordedAnswer): readonly string[] {
  const context = writerContext(caller);
  if (kind === 'json') {
    JSON.parse(Buffer.from(caller.writeAnswer(upstream.readAnswer(body, readerContext), context)).toString());
    return [];
  }
  const reader = upstream.openReader(readerContext);
  const events = [...framesOf(body).flatMap((frame) => [...reader.read(frame)]), ...reader.end()];
  const writer = caller.openWriter(context);
  const text = events.map((event) => writer.write(event)).join('') + writer.end();
  const garbled = dataLines(text).filter((data) => data.trim() !== '[DONE]' && parsed(data) === null);
  return [...garbled, ...orderProblems(events)];
}

function writerContext({ surface }: Codec): WriterContext {
  return {
    turn: { ...turn, surface },
    traceId,
    createdS: 1_700_000_000,
    wantsUsageFrame: true,
    framing: 'sse',
    inputTokensEstimate: 10,
  };
}

const turn: Omit<Turn, 'surface'> = {
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

/** The order the contract promises: one start, blocks one after the other, one finish. */
function orderProblems(events: readonly TurnEvent[]): readonly string[] {
  const kinds = events.map(({ kind }) => kind[0] + (kind.split('-')[1]?.[1] ?? '')).join(' ');
  const order = events
    .map(({ kind }) => ({ start: 'S', 'block-start': 'b', delta: 'd', 'block-stop': 'e', finish: 'F' })[kind])
    .join('');
  return /^S(bd*e)*F$/.test(order)
    ? []
    : [`events out of order: ${order.slice(0, 80)} (${kinds.slice(0, 20)})`];
}
