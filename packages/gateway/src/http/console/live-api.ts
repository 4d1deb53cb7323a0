import type { LiveFrame, LiveHub, LiveTopic } from '../../admin/live/live-hub.ts';
import { isOperator, type Scope, scopeOf } from '../../admin/people/actor.ts';
import { liveQuery } from './contract/live.ts';
import { problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import type { GateOptions } from './frame/gate.ts';

/** The source of the stream. */
export interface LiveSources {
  readonly live: LiveHub;
}

/** Bytes that wait for one reader; beyond them frames are left out, and the reader is told how many. */
const waitingBytesMax = 256 * 1024;
/** It is looked so often whether whoever reads may still do so. */
const recheckMs = 800;
/** A comment goes out so often, so that nothing between takes the stream for dead. */
const aliveMs = 15_000;

/** One stream of what happens, for each console that is open. It ends within a second when its reader's session does. */
export function liveApi(api: ConsoleApi, { live }: LiveSources, findPerson: GateOptions['findPerson']): void {
  api.stream(
    {
      ...{ method: 'get', path: '/live', access: 'viewer', tag: 'Live', query: liveQuery },
      summary: 'What happens, as it happens: server-sent events, which go on behind Last-Event-ID',
      description:
        'Each process tells of its own calls; those of others on the same store come with the lists.',
      produces: 'text/event-stream',
    },
    ({ query: { topics, lastEventId }, scope, actor, request }) => {
      const reader = new StreamReader(new Set(topics));
      const after = request.headers.get('last-event-id') ?? lastEventId ?? null;
      const joined = live.join(scope, reader, after);
      if (joined === null) return crowded;
      reader.write(`event: hello\ndata: ${JSON.stringify({ topics, resumed: joined.resumed })}\n\n`);
      joined.greet();
      const cookies = request.headers.get('cookie');
      const isStillIn = async () => {
        if (actor.kind !== 'person') return true;
        const person = cookies === null ? null : await findPerson(cookies, actor.address);
        return (
          person !== null &&
          isOperator(person) === isOperator(actor) &&
          isSame(scope, scopeOf(person, 'viewer'))
        );
      };
      const timers = [
        setInterval(() => {
          // A store that cannot be asked says nothing about sessions.
          void isStillIn().then(
            (is) => is || reader.end('signed-out'),
            () => undefined,
          );
        }, recheckMs),
        setInterval(() => reader.write(': alive\n\n'), aliveMs),
      ];
      reader.onEnd = () => {
        joined.leave();
        for (const timer of timers) clearInterval(timer);
      };
      request.signal.addEventListener('abort', () => reader.close(), { once: true });
      return new Response(reader.stream, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      });
    },
  );
}

function isSame(one: Scope, other: Scope): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A reader with a bounded buffer: who reads too slowly loses frames, and is told so. */
class StreamReader {
  readonly topics: ReadonlySet<LiveTopic>;
  readonly stream: ReadableStream<Uint8Array>;
  onEnd: () => void = () => undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly #bytes = new TextEncoder();
  readonly #lost = new Map<LiveTopic, number>();

  constructor(topics: ReadonlySet<LiveTopic>) {
    this.topics = topics;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: waitingBytesMax }),
    );
  }

  send({ topic, text }: LiveFrame): void {
    const { desiredSize } = this.#controller ?? {};
    if (desiredSize === undefined || desiredSize === null) return;
    if (desiredSize < text.length * 3) {
      this.#lost.set(topic, (this.#lost.get(topic) ?? 0) + 1);
      return;
    }
    for (const [of, frames] of this.#lost)
      this.write(`event: gap\ndata: ${JSON.stringify({ topic: of, frames })}\n\n`);
    this.#lost.clear();
    this.write(text);
  }

  write(text: string): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(this.#bytes.encode(text));
  }

  end(reason: string): void {
    this.write(`event: bye\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.close();
  }

  close(): void {
    const controller = this.#controller;
    if (controller === null) return;
    this.#controller = null;
    this.onEnd();
    try {
      controller.close();
    } catch {
      // Whoever read it has let go of it.
    }
  }
}

const crowded = problem(
  'too_many_followers',
  'So many consoles are open already that no more are told what happens.',
);
