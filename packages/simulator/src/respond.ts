import type { Buffer } from 'node:buffer';
import { composeAnswer } from './answer/answer.ts';
import { type Command, type Fault, readCommand } from './command/command.ts';
import type { Conversations } from './conversations.ts';
import { type JsonRecord, stringOf } from './json.ts';
import { presetOf, readModelName } from './models.ts';
import {
  badRequest,
  type Complaint,
  type PromptEndpoint,
  type Rendering,
  type SimulatedProtocol,
  type Stamp,
} from './protocol.ts';
import { readBody } from './read-body.ts';
import { complaintOf, errorReply, jsonReply, type Reply, replaced, send, streamReply } from './send.ts';
import type { Transmission } from './timeline.ts';

export interface Question {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Without its question mark; empty when there is none. */
  readonly query: string;
  /** The `x-simulate` header, empty when absent. */
  readonly command: string;
  /** The `content-type` header, empty when absent. */
  readonly contentType: string;
  readonly body: Buffer;
}

export interface Surroundings {
  /** The first one words the errors of paths that belong to none. */
  readonly protocols: readonly [SimulatedProtocol, ...SimulatedProtocol[]];
  /** The instance's own command: before the model's words, after its preset's. */
  readonly script: string;
  readonly stamp: Stamp;
  /** Milliseconds since 1970, for `retry-after` as a date. */
  readonly epochMs: number;
  /** Decides whether this request meets its fault; called once, only when there is one. `key` names the command. */
  readonly meetsFault: (command: Command, key: string) => boolean;
  readonly earlier: Conversations;
}

/** Answers a question, byte for byte and millisecond for millisecond. */
export function respond(question: Question, around: Surroundings): Transmission {
  if (question.method === 'GET') return lookUp(question, around);
  const protocol = around.protocols.find(
    (candidate) =>
      candidate.generatesAt(question.path, question.query) || promptEndpoint(candidate, question) !== null,
  );
  if (protocol === undefined) return refuse(around.protocols[0], unknownPath(question), around);
  if (question.method !== 'POST') return refuse(protocol, wrongMethod(question), around);
  const body = readBody(question.contentType, question.body);
  if (body === null) return refuse(protocol, malformedBody, around);
  return generate(protocol, body, question, around);
}

function promptEndpoint({ promptEndpoints }: SimulatedProtocol, { path }: Question): PromptEndpoint | null {
  return promptEndpoints?.find((endpoint) => endpoint.at(path)) ?? null;
}

function generate(
  protocol: SimulatedProtocol,
  body: JsonRecord,
  question: Question,
  around: Surroundings,
): Transmission {
  const fullName = protocol.modelIn?.(question.path) ?? stringOf(body['model']);
  if (fullName === null) return refuse(protocol, missingModel, around);
  const model = readModelName(fullName);
  const read = readCommand(presetOf(model.name), around.script, model.command, question.command);
  if (!read.ok) return refuse(protocol, unknownCommand(read.problem), around);
  const command = settleFault(read.command, `${fullName} ${question.command}`, around);
  const endpoint = promptEndpoint(protocol, question);
  const asked = (endpoint ?? protocol).readAsk(model.name, body, question.path, around.earlier);
  if (!asked.ok) return refuse(protocol, asked.complaint, around);
  const { ask } = asked;
  const rendering = { body, ask, command, stamp: around.stamp, answer: composeAnswer(ask, command) };
  if (endpoint === null && command.fault === null) protocol.remember?.(rendering, around.earlier);
  const reply =
    endpoint === null ? answerReply(protocol, rendering) : jsonReply(endpoint.answerBody(rendering), 0);
  return deliver(protocol, reply, command, around);
}

function answerReply(protocol: SimulatedProtocol, rendering: Rendering): Reply {
  const { ask, command } = rendering;
  // An image has no words to refuse with: it is an error.
  if (ask.image !== undefined && command.refusal) return errorReply(protocol, refusedImage);
  return ask.stream
    ? streamReply(protocol.streamType, protocol.answerFrames(rendering), rendering)
    : jsonReply(protocol.answerBody(rendering), framesOf(rendering));
}

/** A JSON answer takes as long as this many frames: its tokens, or its images. */
function framesOf({ ask, answer }: Rendering): number {
  return ask.image === undefined ? answer.usage.completion : ask.choices;
}

function lookUp(question: Question, around: Surroundings): Transmission {
  for (const protocol of around.protocols) {
    const found = protocol.lookUp?.(question.path, question.query);
    if (found === undefined || found === null) continue;
    const read = readCommand(around.script, question.command);
    if (!read.ok) return refuse(protocol, unknownCommand(read.problem), around);
    const command = settleFault(read.command, `${question.path} ${question.command}`, around);
    const reply = found.ok ? jsonReply(found.body, 0) : errorReply(protocol, found.complaint);
    return deliver(protocol, reply, command, around);
  }
  return refuse(around.protocols[0], unknownPath(question), around);
}

/** The command without its fault when this request is spared it. */
function settleFault(command: Command, key: string, around: Surroundings): Command {
  if (command.fault === null || around.meetsFault(command, key)) return command;
  return { ...command, fault: null };
}

function deliver(
  protocol: SimulatedProtocol,
  reply: Reply,
  command: Command,
  around: Surroundings,
): Transmission {
  return send(protocol, replyUnder(command.fault, protocol, reply, command), command, around);
}

function replyUnder(fault: Fault | null, protocol: SimulatedProtocol, reply: Reply, command: Command): Reply {
  switch (fault?.kind) {
    case undefined:
    case 'placed':
      return reply;
    case 'status':
      return errorReply(protocol, complaintOf(command, fault.status));
    case 'replacement':
      return replaced(reply, fault.replacement);
  }
}

const plainCommand = readPlainCommand();

function readPlainCommand(): Command {
  const read = readCommand('');
  if (!read.ok) throw new Error(read.problem);
  return read.command;
}

/** An honest refusal: the question itself is wrong, whatever the simulator was told to do. */
function refuse(protocol: SimulatedProtocol, complaint: Complaint, around: Surroundings): Transmission {
  return send(protocol, errorReply(protocol, complaint), plainCommand, around);
}

function unknownPath({ method, path }: Question): Complaint {
  return { status: 404, code: 'unknown_url', message: `Invalid URL (${method} ${path})`, param: null };
}

function wrongMethod({ method }: Question): Complaint {
  const message = `Not allowed to ${method} here.`;
  return { status: 405, code: 'method_not_supported', message, param: null };
}

function unknownCommand(problem: string): Complaint {
  return badRequest('unknown_simulation', 'model', problem);
}

const malformedBody = badRequest(null, null, 'We could not parse the JSON body of your request.');
const refusedImage = badRequest('moderation_blocked', null, null);
const missingModel = badRequest('missing_required_parameter', null, 'you must provide a model parameter');
