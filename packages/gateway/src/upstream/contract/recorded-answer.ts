import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
  UpstreamHeaders,
  UpstreamRequest,
} from '../../ports/upstream.ts';

/** All that a handler was told in the end. */
export interface Outcome {
  readonly status: number | null;
  readonly headers: UpstreamHeaders;
  readonly body: string;
  /** Null after a whole answer. */
  readonly failure: UpstreamFailure | null;
}

/** A handler that remembers, and takes every breach of the handler's contract for an error. */
export class RecordedAnswer implements UpstreamHandler {
  /** The request's own; set by `sendRecorded`. */
  exchange: UpstreamExchange | null = null;
  readonly outcome: Promise<Outcome>;
  readonly headArrived: Promise<UpstreamHead>;
  onHeaded: () => void = () => {};
  onChunk: (chunk: Uint8Array) => void = () => {};
  bytesReceived = 0;
  readonly #chunks: Uint8Array[] = [];
  #head: UpstreamHead | null = null;
  #ended = false;
  readonly #resolveOutcome: (outcome: Outcome) => void;
  readonly #resolveHead: (head: UpstreamHead) => void;

  constructor() {
    const outcome = Promise.withResolvers<Outcome>();
    const head = Promise.withResolvers<UpstreamHead>();
    this.outcome = outcome.promise;
    this.headArrived = head.promise;
    this.#resolveOutcome = outcome.resolve;
    this.#resolveHead = head.resolve;
  }

  onHead(head: UpstreamHead): void {
    this.#assertOpen('onHead');
    if (this.#head !== null) throw new Error('a second head');
    this.#head = head;
    this.#resolveHead(head);
    this.onHeaded();
  }

  onData(chunk: Uint8Array): void {
    this.#assertOpen('onData');
    if (this.#head === null) throw new Error('data before the head');
    if (chunk.byteLength === 0) throw new Error('an empty chunk');
    this.bytesReceived += chunk.byteLength;
    this.#chunks.push(Buffer.from(chunk));
    this.onChunk(chunk);
  }

  onEnd(): void {
    this.#finish('onEnd', null);
  }

  onFailure(failure: UpstreamFailure): void {
    this.#finish('onFailure', failure);
  }

  #finish(name: string, failure: UpstreamFailure | null): void {
    this.#assertOpen(name);
    this.#ended = true;
    this.#resolveOutcome({
      status: this.#head?.status ?? null,
      headers: this.#head?.headers ?? new Map(),
      body: Buffer.concat(this.#chunks).toString('latin1'),
      failure,
    });
  }

  #assertOpen(name: string): void {
    if (this.exchange === null) throw new Error(`${name} within send`);
    if (this.#ended) throw new Error(`${name} after the end`);
  }
}

/** A POST with a small body to a path of no importance. */
export function requestTo(origin: string, changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    origin,
    path: '/v1/answers',
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body: [Buffer.from('{}')],
    channelId: 'channel',
    allowPrivate: true,
    fresh: false,
    ...changes,
  };
}

export function sendRecorded(client: UpstreamClient, request: UpstreamRequest): RecordedAnswer {
  const answer = new RecordedAnswer();
  answer.exchange = client.send(request, answer);
  return answer;
}

export function outcomeOf(client: UpstreamClient, request: UpstreamRequest): Promise<Outcome> {
  return sendRecorded(client, request).outcome;
}
