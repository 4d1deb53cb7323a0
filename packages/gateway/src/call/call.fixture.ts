import { type Platform, type Protocol, protocols, succeed, type Work } from '@headgate/protocols';
import { modelOf, priceOf, type TargetDraft, targetOf } from '../catalogue/catalogue.fixture.ts';
import { type Caller, type Catalogue, type GroupRouting, plainRouting } from '../catalogue/catalogue.ts';
import { noLimits, type OwnerLimits } from '../catalogue/limits.ts';
import { Rights } from '../catalogue/rights.ts';
import { servedByChannel } from '../catalogue/served.ts';
import { Wires } from '../catalogue/wire.ts';
import {
  type CallerListener,
  type HeaderList,
  type Inbound,
  type Reply,
  uncounted,
} from '../ports/data-plane.ts';
import type { CallLimits, Gateway } from '../ports/gateway.ts';
import type { CallEntry, Settlement } from '../ports/ledger.ts';
import type { UpstreamHandler, UpstreamPlace } from '../ports/upstream.ts';
import { Router } from '../route/router.ts';
import { runCall } from './call.ts';
import { HangUps } from './detours/hang-up.ts';
import { WaitingRoom } from './detours/wait.ts';
import { HeldInMemory } from './hold/holds.fixture.ts';
import { AnswerLengths } from './hold/usual-outputs.ts';
import { Watchdog } from './watchdog.ts';

/** The defaults of the settings. */
const limits: CallLimits = {
  firstContentMs: 30_000,
  firstContentReasoningMs: 180_000,
  wholeAnswerMs: 180_000,
  stallMs: 60_000,
  keepAliveMs: 10_000,
  callMs: 600_000,
  hangUpMs: 120_000,
  attemptsMax: 3,
  answerBytesMax: 1_000_000,
  frameBytesMax: 100_000,
  openRowAfterMs: 250,
};

const traceId = '0123456789abcdef0123456789abcdef';

/** A caller's connection: what came over it, and how it ended. */
class CallerSide implements Reply {
  readonly platform: Platform = 'completions';
  gone = false;
  listener: CallerListener | null = null;
  status: number | null = null;
  get begun(): boolean {
    return this.status !== null;
  }
  headers: HeaderList = [];
  /** It was told of these before. */
  addedHeaders: HeaderList = [];
  text = '';
  ending: 'none' | 'clean' | 'broken' | 'abandoned' = 'none';
  /** It takes no more bytes for now. */
  isFull = false;

  addHeaders(headers: HeaderList): void {
    this.addedHeaders = [...this.addedHeaders, ...headers];
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    this.begin(status, headers, body);
    this.ending = 'clean';
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    this.status = status;
    this.headers = headers;
    return this.write(bytes);
  }

  write(bytes: Uint8Array): boolean {
    this.text += Buffer.from(bytes).toString();
    return !this.isFull;
  }

  end(bytes: Uint8Array): void {
    this.write(bytes);
    this.ending = 'clean';
  }

  breakOff(bytes: Uint8Array): void {
    this.write(bytes);
    this.ending = 'broken';
  }

  abandon(): void {
    this.ending = 'abandoned';
  }
}

/** A request an upstream got; the test answers it by calling the handler. */
export interface Sent {
  readonly call: UpstreamPlace;
  /** It had to go out on a new connection. */
  readonly fresh: boolean;
  readonly handler: UpstreamHandler;
  hasHead: boolean;
  isPaused: boolean;
  isAborted: boolean;
  /** For the test to note that it has played this upstream to its end. */
  isDone: boolean;
  /** All of it has left. */
  isSent: boolean;
}

export interface RigOptions {
  readonly channels?: number;
  /** The protocols that every channel speaks, and their paths; chat completions if left out. */
  readonly speaks?: TargetDraft['protocols'];
  readonly limits?: Partial<CallLimits>;
  readonly routing?: Partial<GroupRouting>;
  /** The tokens each channel declares to take. */
  readonly contextWindows?: readonly (number | null)[];
  /** The limit of every channel; none if left out. */
  readonly maxConcurrency?: number;
  readonly settlement?: Settlement;
  /** Calls that may wait for a channel at a time. */
  readonly waitingMax?: number;
  /** Parts that misbehave, in the place of those that do not. */
  readonly parts?: Partial<Gateway>;
  readonly protocol?: Partial<Protocol>;
  /** False for a model without a price; true if left out. */
  readonly isOffered?: boolean;
  /** The caller's; none if left out. */
  readonly owners?: readonly OwnerLimits[];
}

/** The pipeline between a caller and upstreams that a test plays, on a clock that it moves. */
export class Rig {
  readonly reply = new CallerSide();
  readonly sent: Sent[] = [];
  /** Entries that the ledger was given, and those the observer was told of. */
  readonly settled: CallEntry[] = [];
  readonly observed: CallEntry[] = [];
  readonly alerts: string[] = [];
  readonly rescues: string[] = [];
  readonly gateway: Gateway;
  readonly #protocol: Protocol;
  readonly #caller: Caller;
  #nowMs = 1000;

  constructor(options: RigOptions = {}) {
    const clock = { now: () => this.#nowMs, monotonic: () => this.#nowMs };
    const ids = Array.from({ length: options.channels ?? 1 }, (_, place) => `c${place + 1}`);
    const speaks = options.speaks === undefined ? {} : { protocols: options.speaks };
    const model = {
      ...modelOf(
        ids.map((id, place) => {
          const target = targetOf({ id, ...speaks });
          const channel = { ...target.channel, maxConcurrency: options.maxConcurrency ?? null };
          return { ...target, channel, contextWindow: options.contextWindows?.[place] ?? null };
        }),
      ),
      price: priceOf(1_000_000n),
      isOffered: options.isOffered ?? true,
    };
    const catalogue: Catalogue = {
      revision: 1,
      keys: new Map(),
      groups: new Map(),
      models: new Map([[model.id, model]]),
      channels: new Map(),
      served: servedByChannel([model]),
      rights: new Rights([model]),
    };
    const routing = { ...plainRouting, ...options.routing };
    const owners = options.owners ?? noLimits;
    this.#caller = { ...caller, group: { ...caller.group, routing }, limits: owners };
    this.#protocol = { ...chatCompletions(), ...options.protocol };
    const watchdog = new Watchdog(clock);
    this.gateway = {
      catalogue: { current: catalogue },
      protocols,
      router: new Router({
        attemptsMax: 3,
        uniform: () => 0.5,
        hashCredential: (it) => it,
      }),
      ledger: {
        open: () => {},
        settle: (entry, done) => {
          this.settled.push(entry);
          done(options.settlement ?? 'settled');
        },
        isWritable: () => true,
        waiting: 0,
        flush: () => Promise.resolve(),
      },
      wires: new Wires(
        { ...protocols, ...options.parts?.protocols, [this.#protocol.id]: this.#protocol },
        {
          line: (place) => ({ send: (_headers, _body, fresh, handler) => this.#send(place, fresh, handler) }),
        },
      ),
      media: { fetch: () => Promise.resolve(succeed(new Map())) },
      tokens: { count: () => Promise.resolve(null) },
      translator: { translate: () => () => {}, readAnswer: (_by, _job, _body, done) => done(null) },
      observer: {
        callStarted: () => {},
        callFinished: (entry) => this.observed.push(entry),
        alert: (kind) => this.alerts.push(kind),
        alertOver: () => {},
        refused: () => {},
        rescued: (end) => this.rescues.push(end),
        probed: () => {},
        serviceChanged: () => {},
      },
      watchdog,
      hangUps: new HangUps(2),
      waitingRoom: new WaitingRoom(watchdog, clock, options.waitingMax ?? 10),
      clock,
      unpricedTerms: 'refuse',
      limits: { ...limits, ...options.limits },
      holds: new HeldInMemory(),
      usualOutputs: new AnswerLengths(),
      ...options.parts,
    };
  }

  /** Lets a call begin. The promise is the call's: awaited, it has ended, and says whether its body is still read. */
  start(stream: boolean, work: Work = 'answer', more: object = {}): { readonly done: Promise<boolean> } {
    const inbound = this.inbound(stream, work, more);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    runCall(inbound, this.#caller, this.#protocol, this.reply, this.gateway, { onCallEnded: resolve });
    return { done: promise };
  }

  inbound(stream: boolean, work: Work = 'answer', more: object = {}): Inbound {
    const messages = [{ role: 'user', content: 'Hello' }];
    const text = JSON.stringify({ model: 'demo', messages, stream, ...more });
    return {
      traceId,
      header: () => undefined,
      path: '/v1/chat/completions',
      params: {},
      search: '',
      body: Buffer.from(text),
      work,
      receivedAtMs: this.#nowMs,
      receivedAt: this.#nowMs,
      memory: uncounted,
    };
  }

  advance(milliseconds: number): void {
    this.#nowMs += milliseconds;
  }

  /** Lets time pass, and whoever waited for it act. */
  async pass(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
    this.gateway.watchdog.sweep();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** One upstream, the latest if none is named, answers with these bytes, and ends unless there is more to come. */
  answer(stream: boolean, text: string, more: 'whole' | 'more' = 'whole', place = -1): void {
    const sent = this.sent.at(place);
    if (sent === undefined) return;
    const type = stream ? 'text/event-stream' : 'application/json';
    if (!sent.hasHead) sent.handler.onHead({ status: 200, headers: new Map([['content-type', type]]) });
    sent.hasHead = true;
    giveBytes(sent.handler, text);
    if (more === 'whole') sent.handler.onEnd();
  }

  /** The latest upstream refuses with this status, and whoever waited for that acts. */
  async refuse(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Promise<void> {
    const handler = this.sent.at(-1)?.handler;
    handler?.onHead({ status, headers: new Map(Object.entries(headers)) });
    if (handler !== undefined) giveBytes(handler, body);
    handler?.onEnd();
    await this.pass(0);
  }

  /** The channels asked so far, in order. */
  get asked(): readonly string[] {
    return this.sent.map(({ call }) => call.channel.id);
  }

  #send(call: UpstreamPlace, fresh: boolean, handler: UpstreamHandler) {
    const sent: Sent = {
      call,
      fresh,
      handler,
      hasHead: false,
      isPaused: false,
      isAborted: false,
      isDone: false,
      isSent: true,
    };
    this.sent.push(sent);
    return {
      pause: () => {
        sent.isPaused = true;
      },
      resume: () => {
        sent.isPaused = false;
      },
      gather: () => {},
      get isSent() {
        return sent.isSent;
      },
      abort: () => {
        sent.isAborted = true;
        queueMicrotask(() => handler.onFailure({ kind: 'aborted', detail: '' }));
      },
    };
  }
}

/** As a client does: the bytes are gone as soon as they have been told. */
function giveBytes(handler: UpstreamHandler, text: string): void {
  const bytes = Buffer.from(text);
  handler.onData(bytes);
  bytes.fill(0);
}

export function chatCompletions(): Protocol {
  const protocol = protocols['chat-completions'];
  if (protocol === undefined) throw new Error('chat-completions is not spoken');
  return protocol;
}

export const caller: Caller = {
  keyId: 'key',
  keyName: 'Key',
  accountId: 'account',
  group: {
    id: 'group',
    name: 'Group',
    platform: 'completions',
    multiplierPpm: 1_000_000n,
    models: null,
    routing: plainRouting,
  },
  models: null,
  createdAtMs: 0,
  strict: false,
  addressRanges: null,
  expiresAtMs: null,
  limits: noLimits,
  multipliers: null,
};
