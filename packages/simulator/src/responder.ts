import { Buffer } from 'node:buffer';
import { chatCompletions } from './chat-completions/protocol.ts';
import { readCommand } from './command/command.ts';
import { Conversations } from './conversations.ts';
import type { FixedQuestion } from './fixed-answers.ts';
import { FixedAnswers } from './fixed-answers.ts';
import { generateContent } from './generate-content/protocol.ts';
import { images } from './images/protocol.ts';
import { messages } from './messages/protocol.ts';
import type { SimulatedProtocol } from './protocol.ts';
import type { Question } from './respond.ts';
import { respond } from './respond.ts';
import { responses } from './responses/protocol.ts';
import type { Clock } from './server/clock.ts';
import type { FaultGate } from './server/fault-gate.ts';
import type { ReceivedRequest } from './server/request-reader.ts';
import type { Transmission } from './timeline/transmit.ts';

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
