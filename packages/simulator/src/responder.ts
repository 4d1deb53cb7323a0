import { Buffer } from 'node:buffer';
import { chatCompletions } from './chat-completions/protocol.ts';
import { readCommand } from './command/command.ts';
import { Conversations } from './conversations.ts';
import type { FaultGate } from './fault-gate.ts';
import { generateContent } from './generate-content/protocol.ts';
import { images } from './images/protocol.ts';
import { messages } from './messages/protocol.ts';
import type { SimulatedProtocol } from './protocol.ts';
import { type Question, respond } from './respond.ts';
import { responses } from './responses/protocol.ts';
import type { Clock } from './server/clock.ts';
import type { ReceivedRequest } from './server/request-reader.ts';
import type { Ending, Step, Transmission } from './timeline.ts';

const protocols: readonly [SimulatedProtocol, ...SimulatedProtocol[]] = [
  chatCompletions,
  responses,
  messages,
  images,
  ...generateContent,
];

/** Gives the pure answer the three things it may not have by itself: time, chance and memory. */
export class Responder {
  readonly #clock: Clock;
  readonly #gate: FaultGate;
  readonly #earlier = new Conversations();
  #script = '';

  constructor(clock: Clock, gate: FaultGate) {
    this.#clock = clock;
    this.#gate = gate;
  }

  /** Throws on a command that cannot be read. */
  setScript(command: string): void {
    const read = readCommand(command);
    if (!read.ok) throw new Error(read.problem);
    this.#script = command;
    this.#gate.reset();
  }

  respond(request: ReceivedRequest, sequence: number): Transmission {
    const [path = '', ...query] = request.target.split('?');
    const question = {
      method: request.method,
      path,
      query: query.join('?'),
      command: request.headers['x-simulate'] ?? '',
      contentType: request.headers['content-type'] ?? '',
      body: request.body,
    };
    return this.#answer(question, sequence);
  }

  /** Answers POST from prepared bytes, whatever its path. */
  fixedAnswers(): (request: ReceivedRequest, sequence: number) => Transmission {
    const answers = new FixedAnswers((question) => this.#answer(fixedQuestion(question), 1));
    return (request, sequence) =>
      request.method === 'POST' ? answers.answer(request.body) : this.respond(request, sequence);
  }

  #answer(question: Question, sequence: number): Transmission {
    const epochMs = this.#clock.epochMs();
    return respond(question, {
      protocols,
      script: this.#script,
      stamp: { sequence, createdS: Math.floor(epochMs / 1_000) },
      epochMs,
      earlier: this.#earlier,
      meetsFault: (command, key) => this.#gate.meets(command, key),
    });
  }
}

function fixedQuestion({ model, stream, wantsUsage }: FixedQuestion): Question {
  const messages = [{ role: 'user', content: 'a fixed question' }];
  const body = { model, messages, stream, stream_options: { include_usage: wantsUsage } };
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    query: '',
    command: '',
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The three things a fixed answer may depend on, found by looking at bytes and not by parsing them. */
export interface FixedQuestion {
  readonly model: string;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
}

interface Recording {
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

const recordingsMax = 256;
const stepsMax = 100_000;

/**
 * Answers prepared once and sent again, the same bytes each time, so that a simulator costs next to nothing in a
 * benchmark. An answer is chosen by the model's name alone; the prompt is not looked at and not counted.
 */
class FixedAnswers {
  readonly #compose: (question: FixedQuestion) => Transmission;
  readonly #recordings = new Map<string, Recording>();

  /** `compose` is called once for each question there is. */
  constructor(compose: (question: FixedQuestion) => Transmission) {
    this.#compose = compose;
  }

  /** `body` is JSON without spaces after its colons, as clients of this protocol send it. */
  answer(body: Buffer): Transmission {
    const question: FixedQuestion = {
      model: modelIn(body),
      stream: body.includes('"stream":true'),
      wantsUsage: body.includes('"include_usage":true'),
    };
    const key = `${question.stream} ${question.wantsUsage} ${question.model}`;
    const recording = this.#recordings.get(key) ?? this.#record(key, question);
    return play(recording);
  }

  #record(key: string, question: FixedQuestion): Recording {
    const recording = record(this.#compose(question));
    // Beyond the bound nothing is kept and answers are only slower; benchmarks use a handful of names.
    if (this.#recordings.size < recordingsMax) this.#recordings.set(key, recording);
    return recording;
  }
}

function* play({ steps, ending }: Recording): Generator<Step, Ending, undefined> {
  yield* steps;
  return ending;
}

/** Plays a transmission to its end; steps due together become one. */
function record(transmission: Transmission): Recording {
  const groups: { readonly atMs: number; readonly parts: Uint8Array[] }[] = [];
  for (let count = 0; count < stepsMax; count++) {
    const next = transmission.next();
    if (next.done === true) {
      const steps = groups.map(({ atMs, parts }) => ({ atMs, bytes: Buffer.concat(parts) }));
      return { steps, ending: next.value };
    }
    const { atMs, bytes } = next.value;
    const last = groups.at(-1);
    if (last?.atMs === atMs) last.parts.push(bytes);
    else groups.push({ atMs, parts: [bytes] });
  }
  throw new Error(`a fixed answer may have at most ${stepsMax} steps`);
}

const modelMember = '"model":"';

function modelIn(body: Buffer): string {
  const start = body.indexOf(modelMember);
  if (start < 0) return '';
  const from = start + modelMember.length;
  return body.toString('utf8', from, body.indexOf('"', from));
}
