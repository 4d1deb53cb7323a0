import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StatusFile } from '../../ports/status.ts';
import { isOfStatus, type StatusAnswer, StatusAnswers, type StatusQuestion } from './status-answers.ts';
import { StatusConnection, type StatusDoor } from './status-connection.ts';
import { StatusRounds } from './status-rounds.ts';

/** The page as it is kept, and a way to have it made. */
export interface StatusPageSource {
  readonly files: ReadonlyMap<string, StatusFile> | null;
  /** Resolves when it is made, or could not be. */
  make(): Promise<void>;
}

/** An answer by the console's own server costs as much as so many of ours. */
const costByServer = 5;
const noFiles: ReadonlyMap<string, StatusFile> = new Map();

/**
 * Answers `/status…` from bytes that are there already, before any server or router of the console sees the request. It is given nothing
 * but the page, reads no cookie and asks no store, and however many ask, calls of models keep their turns of the loop.
 */
export class StatusLane {
  readonly #source: StatusPageSource;
  readonly #answers: StatusAnswers;
  readonly #now: () => number;
  readonly #rounds = new StatusRounds();
  readonly #connections = new Set<StatusConnection>();
  #isLeaving = false;

  constructor(source: StatusPageSource, usualLanguage: () => 'en' | 'zh-CN', now: () => number) {
    this.#source = source;
    this.#answers = new StatusAnswers(usualLanguage);
    this.#now = now;
  }

  /** Puts itself before a server, which gets the connections that ask for anything else; `idleMs` may pass without a word. */
  putBefore(server: Server, idleMs: number): void {
    const takeOver = server.listeners('connection');
    server.removeAllListeners('connection');
    const isLeaving = () => this.#isLeaving;
    const door: StatusDoor = {
      idleMs,
      connections: this.#connections,
      get isLeaving() {
        return isLeaving();
      },
      ask: (question, done) => this.#rounds.take(1, () => this.#find(question, done)),
      handOver(socket, bytes) {
        socket.pause();
        socket.unshift(bytes);
        for (const listener of takeOver) listener.call(server, socket);
        socket.resume();
      },
    };
    server.on('connection', (socket: Socket) => new StatusConnection(socket, door));
  }

  /** Answers what came by the server behind it. False where the request is for another path. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url: target = '', headers } = request;
    if (!isOfStatus(target)) return false;
    const question = { method, target, header: (name: string) => headers[name]?.toString() };
    const isTaken = this.#rounds.take(costByServer, () =>
      this.#find(question, ({ status, headers: sent, body }) => {
        response.writeHead(status, sent);
        response.end(body);
      }),
    );
    if (!isTaken) request.socket.destroy();
    return true;
  }

  /** Each connection is closed behind its next answer, and those that ask for nothing now. */
  retire(): void {
    this.#isLeaving = true;
    for (const connection of [...this.#connections]) connection.closeIfIdle();
  }

  close(): void {
    this.#isLeaving = true;
    for (const connection of [...this.#connections]) connection.destroy();
  }

  #find(question: StatusQuestion, done: (answer: StatusAnswer) => void): void {
    const { files } = this.#source;
    if (files !== null) return done(this.#answers.answerTo(question, files, this.#now()));
    void this.#source.make().then(() => {
      done(this.#answers.answerTo(question, this.#source.files ?? noFiles, this.#now()));
    });
  }
}
