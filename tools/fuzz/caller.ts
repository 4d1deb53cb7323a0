import { connect, type Socket } from 'node:net';
import { Answer } from './answer.ts';
import type { FuzzCase } from './fuzz-case.ts';

/** What became of a case. */
export interface Seen {
  readonly answer: Answer;
  /** The connection ended before the answer was whole. */
  readonly isBroken: boolean;
  readonly isHung: boolean;
  /** The machine took so long over it that the gateway may have waited for its first bytes in vain. */
  readonly isLate: boolean;
}

/** No time-out of the gateway that is fuzzed is longer, all of a call's together. */
const patienceMs = 20_000;

/** Half of the time in which the gateway that is fuzzed must have a head: from then on this process is what is slow. */
const lateMs = 500;

/** One caller: a case after another, on one connection as long as that lives. */
export class Caller {
  readonly #ports: Readonly<Record<FuzzCase['port'], number>>;
  #kept: Socket | null = null;

  constructor(ports: Readonly<Record<FuzzCase['port'], number>>) {
    this.#ports = ports;
  }

  /** Never rejects. A connection that was kept may end as it is used again: then the case goes to a new one, as clients do. */
  async send(fuzz: FuzzCase): Promise<Seen> {
    const kept = fuzz.port === 'api' ? this.#take() : null;
    if (kept !== null) {
      const seen = await this.#exchange(fuzz, kept);
      if (!seen.isBroken || seen.answer.hasHead || fuzz.conduct !== 'waits') return seen;
    }
    const seen = await this.#exchange(fuzz, this.#connect(fuzz));
    return seen.isLate && !seen.answer.hasHead ? this.#exchange(fuzz, this.#connect(fuzz)) : seen;
  }

  #connect({ port }: FuzzCase): Socket {
    return connect({ host: '127.0.0.1', port: this.#ports[port], noDelay: true });
  }

  close(): void {
    this.#kept?.destroy();
  }

  async #exchange(fuzz: FuzzCase, socket: Socket): Promise<Seen> {
    const { promise, resolve } = Promise.withResolvers<Seen>();
    const answer = new Answer(fuzz.isHead);
    const beganAt = performance.now();
    let isLate = false;
    socket.once('connect', () => {
      isLate = performance.now() - beganAt > lateMs;
    });
    const finish = (isBroken: boolean, isHung: boolean) => {
      clearTimeout(patience);
      socket.removeAllListeners().on('error', () => {});
      if (isBroken || isHung || !mayBeKept(fuzz, answer)) socket.destroy();
      else this.#keep(socket);
      resolve({ answer, isBroken, isHung, isLate });
    };
    const patience = setTimeout(() => finish(false, true), patienceMs);
    socket.on('data', (chunk: Buffer) => {
      answer.take(chunk);
      if (answer.isWhole) finish(false, false);
    });
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('close', () => finish(true, false));
    for (const [place, piece] of fuzz.pieces.entries()) {
      if (place > 0) await new Promise((next) => setImmediate(next));
      if (socket.writable) socket.write(piece);
    }
    if (fuzz.conduct !== 'waits')
      setTimeout(
        () => (fuzz.conduct === 'resets' ? socket.resetAndDestroy() : socket.destroy()),
        fuzz.leavesAfterMs,
      );
    return promise;
  }

  #take(): Socket | null {
    const kept = this.#kept;
    this.#kept = null;
    return kept?.writable === true ? kept.removeAllListeners() : null;
  }

  #keep(socket: Socket): void {
    this.#kept = socket;
    const forget = () => {
      socket.destroy();
      if (this.#kept === socket) this.#kept = null;
    };
    socket.on('error', forget).on('end', forget).on('close', forget);
  }
}

/** Only one whose bytes are all accounted for. */
function mayBeKept({ port, isSound, isHead, conduct }: FuzzCase, answer: Answer): boolean {
  return (
    port === 'api' && isSound && !isHead && conduct === 'waits' && !/connection: *close/i.test(answer.head)
  );
}
