import { fail, type Result, succeed } from '@headgate/protocols';
import type { Restarted } from '../admin/serving.ts';
import { type Environment, successorVariable } from '../config.ts';
import { isSocket, type ListeningSocket } from '../http/listening.ts';
import type { Sockets } from '../main.ts';

/**
 * The messages between a guardian and the processes that it started. An older Headgate may be at the other end: a kind that
 * is not known is passed over, and none may change its meaning.
 */
export type SuccessionMessage =
  /** To the successor: the socket that comes along was opened for this address. To the guardian: the one it asked for. */
  | { readonly kind: 'socket'; readonly name: keyof Sockets; readonly address: string }
  /** To the successor: all sockets have come. */
  | { readonly kind: 'start' }
  /** To the guardian: it serves; or it does not, and why. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** To the successor: give your sockets. To the guardian: they cannot be given. */
  | { readonly kind: 'lend' }
  | { readonly kind: 'not-lent' }
  /** To the successor: another one serves; or all is over. */
  | { readonly kind: 'retire' }
  | { readonly kind: 'stop' }
  /** To the guardian: put another one in my place. To the successor: how that went; one of both is null. */
  | { readonly kind: 'restart' }
  | { readonly kind: 'restarted'; readonly processId: number | null; readonly reason: string | null };

/** The message, if it is one of ours. */
export function readMessage(message: unknown): SuccessionMessage | null {
  // Its sender is our own program, in this version or another.
  return typeof message === 'object' && message !== null && 'kind' in message
    ? (message as SuccessionMessage)
    : null;
}

export const socketNames = ['api', 'console'] as const satisfies readonly (keyof Sockets)[];

/** The sockets that came, by the addresses they were opened for. */
export type LentSockets = Partial<Record<keyof Sockets, { address: string; socket: ListeningSocket }>>;

/** The part of this process that talks to the one that started it. */
type Line = Pick<NodeJS.Process, 'on' | 'disconnect' | 'connected'> & {
  send?(message: SuccessionMessage, socket?: unknown): boolean;
};

/** The actions that its guardian may ask of a process that serves. */
export interface Duties {
  lend(): Promise<Sockets | null>;
  retire(): void;
}

/** A successor's way to its guardian: the process that started it to go on in its place. */
export class GuardianLine {
  /** Aborts when everything is to stop. */
  readonly stop: AbortSignal;
  /** All that was lent, once it has come. */
  readonly sockets: Promise<LentSockets>;
  readonly #line: Line;
  readonly #stop = new AbortController();
  readonly #lent: LentSockets = {};
  readonly #haveCome = Promise.withResolvers<LentSockets>();
  #duties: Duties | null = null;
  #restarting: PromiseWithResolvers<Result<Restarted, string>> | null = null;

  constructor(line: Line) {
    this.#line = line;
    this.stop = this.#stop.signal;
    this.sockets = this.#haveCome.promise;
    line.on('message', (message, socket) => this.#hear(readMessage(message), socket));
    line.on('disconnect', () => this.#onLeft());
  }

  /** It serves from now on. */
  ready(duties: Duties): void {
    this.#duties = duties;
    this.#line.send?.({ kind: 'ready' });
  }

  failed(reason: string): void {
    this.#line.send?.({ kind: 'failed', reason });
  }

  readonly restart = (): Promise<Result<Restarted, string>> => {
    this.#restarting ??= Promise.withResolvers();
    this.#line.send?.({ kind: 'restart' });
    return this.#restarting.promise;
  };

  /** Nothing more is said: without it the process would live as long as its guardian. */
  close(): void {
    if (this.#line.connected) this.#line.disconnect?.();
  }

  #hear(message: SuccessionMessage | null, socket: unknown): void {
    switch (message?.kind) {
      case 'socket':
        if (isSocket(socket)) this.#lent[message.name] = { address: message.address, socket };
        return;
      case 'start':
        return this.#haveCome.resolve(this.#lent);
      case 'lend':
        return void this.#lend();
      case 'retire':
        this.#duties?.retire();
        return;
      case 'stop':
        return this.#stop.abort();
      case 'restarted': {
        const { processId, reason } = message;
        this.#restarting?.resolve(
          processId === null ? fail(reason ?? 'no reason is known') : succeed({ processId }),
        );
        this.#restarting = null;
        return;
      }
      default:
    }
  }

  async #lend(): Promise<void> {
    const sockets = (await this.#duties?.lend()) ?? null;
    if (sockets === null) return void this.#line.send?.({ kind: 'not-lent' });
    for (const name of socketNames) this.#line.send?.({ kind: 'socket', name, address: '' }, sockets[name]);
  }

  /** Its guardian has gone. Whoever started that one knows of no other, so nothing may stay behind. */
  #onLeft(): void {
    this.#haveCome.resolve(this.#lent);
    this.#stop.abort();
  }
}

/** Null in a process that an operator or a supervisor started. */
export function openGuardianLine(environment: Environment): GuardianLine | null {
  const isSuccessor = environment(successorVariable) !== undefined && process.send !== undefined;
  return isSuccessor ? new GuardianLine(process) : null;
}
