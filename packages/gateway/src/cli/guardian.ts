import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { Restarted } from '../admin/serving.ts';
import { successorVariables } from '../config.ts';
import { isSocket, type ListeningSocket } from '../http/listening.ts';
import type { RunningGateway, Sockets } from '../main.ts';
import type { Logger } from '../telemetry/logger.ts';
import { readMessage, type SuccessionMessage, socketNames } from './successor.ts';

/** A start may have a journal to replay. One that takes longer is given up, and what served goes on. */
const startMsMax = 120_000;
const lendMsMax = 10_000;

/** A process that serves, as its guardian sees it: the guardian itself at first, then one that it started. */
export interface Incumbent {
  readonly processId: number;
  /** Rejects, or is never settled, only when it dies. */
  readonly ended: Promise<number>;
  lend(): Promise<Sockets | null>;
  /** The sockets that it lent have been passed on. */
  takeBack(sockets: Sockets): void;
  retire(): void;
  stop(): void;
}

/** The addresses that sockets were opened for, as the settings had them. */
export type Addresses = Readonly<Record<keyof Sockets, string>>;

/**
 * The process that was started first, and stays as long as any of its successors: so whoever started it, a shell, a container
 * or a supervisor, has one process to signal and to wait for, however often what serves is exchanged. A successor gets the
 * sockets themselves, with those who wait in their queues, and serves before the one before it stops taking connections.
 */
export class Guardian {
  readonly #log: Logger;
  readonly #addresses: Addresses;
  readonly #all = new Set<Incumbent>();
  #serving: Incumbent;
  #replacing: Promise<Result<Restarted, string>> | null = null;
  #isStopping = false;

  constructor(first: Incumbent, addresses: Addresses, log: Logger) {
    this.#serving = first;
    this.#addresses = addresses;
    this.#log = log;
    this.#all.add(first);
  }

  /** Puts a new process in the place of the one that serves. Asked for twice at a time, it happens once. */
  readonly restart = (): Promise<Result<Restarted, string>> => {
    this.#replacing ??= this.#replace().finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  };

  stop(): void {
    this.#isStopping = true;
    for (const incumbent of this.#all) incumbent.stop();
  }

  /** Resolves with the exit code of the one that served last, when all have ended. */
  async ended(): Promise<number> {
    for (;;) {
      const incumbent = this.#serving;
      const code = await incumbent.ended;
      await this.#replacing;
      if (incumbent !== this.#serving) continue;
      // It was told to stop, or it died: either way nothing serves any more.
      this.stop();
      await Promise.all([...this.#all].map(({ ended }) => ended));
      return code;
    }
  }

  async #replace(): Promise<Result<Restarted, string>> {
    if (process.platform === 'win32')
      return this.#refuse('this system cannot pass sockets on; stop and start it');
    const former = this.#serving;
    const sockets = await former.lend();
    if (sockets === null) return this.#refuse('its sockets cannot be given to another process');
    if (this.#isStopping) return this.#refuse('it is told to stop');
    const successor = new Successor(sockets, this.#addresses, this.restart);
    this.#all.add(successor);
    const started = await successor.started;
    former.takeBack(sockets);
    if (!started.ok) {
      successor.kill();
      await successor.ended;
      this.#all.delete(successor);
      return this.#refuse(started.error);
    }
    this.#serving = successor;
    former.ended.then(
      () => this.#all.delete(former),
      (error: unknown) => this.#log.error('a process that had retired did not end well', { error }),
    );
    const { processId } = successor;
    this.#log.info('another process serves; calls that run here come to their end', {
      detail: { processId },
    });
    // Whoever asked this one for it has its answer first.
    setImmediate(() => former.retire());
    return succeed({ processId });
  }

  #refuse(reason: string): Result<never, string> {
    this.#log.error('restart failed; what served goes on', { reason });
    return fail(reason);
  }
}

/** The gateway of this process. */
export function ownIncumbent(gateway: RunningGateway, onStop: () => void): Incumbent {
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  let hasRetired = false;
  let hasStopped = false;
  return {
    processId: process.pid,
    ended,
    lend: () => gateway.lend(),
    takeBack: () => {},
    retire: () => {
      // A stop may come while its successor starts: it ends sooner by that, and waits for nobody.
      if (hasStopped) return;
      hasRetired = true;
      gateway.retire().then(() => resolve(0), reject);
    },
    stop: () => {
      hasStopped = true;
      if (!hasRetired) onStop();
      gateway.stop().then(() => resolve(0), reject);
    },
  };
}

/** A process that was started to go on for another one. */
class Successor implements Incumbent {
  readonly processId: number;
  readonly ended: Promise<number>;
  readonly started: Promise<Result<null, string>>;
  readonly #child: ChildProcess;
  readonly #start = Promise.withResolvers<Result<null, string>>();
  #lending: {
    readonly found: Partial<Record<keyof Sockets, ListeningSocket>>;
    readonly done: (whole: boolean) => void;
  } | null = null;

  constructor(sockets: Sockets, addresses: Addresses, restart: Guardian['restart']) {
    const program = fileURLToPath(new URL('../cli.ts', import.meta.url));
    this.#child = fork(program, process.argv.slice(2), { env: successorVariables() });
    this.processId = this.#child.pid ?? 0;
    this.ended = once(this.#child, 'close').then(
      ([code]) => (typeof code === 'number' ? code : 1),
      () => 1,
    );
    this.started = this.#started();
    this.#child.on('message', (message, socket) => this.#hear(readMessage(message), socket, restart));
    for (const name of socketNames)
      this.#send({ kind: 'socket', name, address: addresses[name] }, sockets[name]);
    this.#send({ kind: 'start' });
  }

  async lend(): Promise<Sockets | null> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const found: Partial<Record<keyof Sockets, ListeningSocket>> = {};
    this.#lending = { found, done: resolve };
    this.#send({ kind: 'lend' });
    await orAfter(lendMsMax, promise, false);
    this.#lending = null;
    const { api, console } = found;
    return api === undefined || console === undefined ? null : { api, console };
  }

  /** These came over from a child, and are this process's own: as long as they are open here, callers wait in them for nobody. */
  takeBack({ api, console }: Sockets): void {
    api.close();
    console.close();
  }

  retire(): void {
    this.#send({ kind: 'retire' });
  }

  stop(): void {
    this.#send({ kind: 'stop' });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #started(): Promise<Result<null, string>> {
    const early = this.ended.then((code) => fail(`the new process ended with ${code} before it served`));
    const late = fail(`the new process does not serve after ${startMsMax / 1000} s`);
    return orAfter(startMsMax, Promise.race([this.#start.promise, early]), late);
  }

  #hear(message: SuccessionMessage | null, socket: unknown, restart: Guardian['restart']): void {
    switch (message?.kind) {
      case 'ready':
        return this.#start.resolve(succeed(null));
      case 'failed':
        return this.#start.resolve(fail(message.reason));
      case 'restart':
        return void restart().then((restarted) =>
          this.#send(
            restarted.ok
              ? { kind: 'restarted', processId: restarted.value.processId, reason: null }
              : { kind: 'restarted', processId: null, reason: restarted.error },
          ),
        );
      case 'not-lent':
        return this.#lending?.done(false);
      case 'socket':
        return this.#takeSocket(message.name, socket);
      default:
    }
  }

  #takeSocket(name: keyof Sockets, socket: unknown): void {
    if (this.#lending === null || !isSocket(socket)) return;
    this.#lending.found[name] = socket;
    if (socketNames.every((each) => this.#lending?.found[each] !== undefined)) this.#lending.done(true);
  }

  /** One that has gone hears nothing, and its end says so. */
  #send(message: SuccessionMessage, socket?: ListeningSocket): void {
    if (!this.#child.connected) return;
    const onSent = (): void => {};
    // The types of Node know of servers that may be sent along, not of what they hold.
    Reflect.apply(this.#child.send, this.#child, [message, socket, onSent]);
  }
}

async function orAfter<Value>(timeoutMs: number, event: Promise<Value>, late: Value): Promise<Value> {
  const patience = new AbortController();
  const timeIsOver = delay(timeoutMs, late, { signal: patience.signal }).catch(() => late);
  try {
    return await Promise.race([event, timeIsOver]);
  } finally {
    patience.abort();
  }
}
