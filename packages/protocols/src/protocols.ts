import { chatCompletions } from './chat-completions/index.ts';
import type { AskedModel } from './codec.ts';
import { generateContent } from './generate-content/index.ts';
import { images } from './images/index.ts';
import { messages } from './messages/index.ts';
import type { ProtocolOf, SmallestRequest } from './protocol.ts';
import { fillPath } from './request/edits.ts';
import type { Dialect, EncodedRequest } from './request.ts';
import { responses } from './responses/index.ts';

/**
 * The wire formats that are spoken; a new one is a folder and a line here. Where an upstream speaks several others than the
 * caller's, the one that loses least of the request is chosen, and among equals the first one here: those that can say most
 * come first.
 */
export const protocols = {
  responses,
  messages,
  'generate-content': generateContent,
  'chat-completions': chatCompletions,
  images,
};

export type ProtocolId = keyof typeof protocols;

export type Protocol = ProtocolOf<ProtocolId>;

/** The languages of an upstream, by their paths. */
type Paths<Id extends string> = Readonly<Partial<Record<Id, string>>>;

/** A request for one token: whether anybody answers, at the least expense. */
export interface SmallestCall<Id extends string = ProtocolId> extends EncodedRequest {
  readonly protocol: Id;
}

/** Everything that follows from which protocols there are. */
export class ProtocolTable<Id extends string> {
  readonly ids: readonly Id[];
  /** By how callers of each are served: its own first, then by translation. */
  readonly #upstreams: ReadonlyMap<Id, readonly Id[]>;
  /** Protocols in which a model can be asked for next to nothing, the least expense first. */
  readonly #smallest: readonly SmallProtocol<Id>[];

  constructor(spoken: readonly ProtocolOf<Id>[]) {
    const translated = spoken.filter(({ codec }) => codec !== null);
    this.ids = spoken.map(({ id }) => id);
    this.#upstreams = new Map(
      spoken.map(({ id, codec }) => [
        id,
        [id, ...(codec === null ? [] : translated.map((other) => other.id))],
      ]),
    );
    this.#smallest = spoken
      .flatMap(({ smallestRequest, ...protocol }) =>
        smallestRequest === null ? [] : [{ protocol, request: smallestRequest }],
      )
      // Among equals the one that most servers know comes first.
      .reverse()
      .sort((a, b) => a.request.outputTokens - b.request.outputTokens);
  }

  /** The upstream's protocols in which a caller of `surface` can be served: its own alone, else all it can be translated to. */
  upstreamProtocolsOf(surface: Id, spoken: Readonly<Partial<Record<Id, unknown>>>): readonly Id[] {
    const served = this.#upstreams.get(surface)?.filter((id) => spoken[id] !== undefined) ?? [];
    return served[0] === surface ? [surface] : served;
  }

  /** The protocol a smallest call is made in; null where there is none, as of upstreams that make images only. */
  smallestProtocol(paths: Paths<Id>): Id | null {
    return this.#smallestOf(paths)?.protocol.id ?? null;
  }

  smallestCall(
    paths: Paths<Id>,
    upstreamModel: string,
    dialect: Dialect,
    known: AskedModel | null = null,
  ): SmallestCall<Id> | null {
    const small = this.#smallestOf(paths);
    const path = small === null ? undefined : paths[small.protocol.id];
    if (small === null || path === undefined) return null;
    const { protocol, request } = small;
    return {
      protocol: protocol.id,
      path: fillPath(path, upstreamModel, 'generateContent'),
      contentType: 'application/json',
      headers: protocol.headersFor?.(dialect) ?? [],
      body: [new TextEncoder().encode(JSON.stringify(request.body(upstreamModel, dialect, known)))],
      edits: [],
    };
  }

  /** The headers of a request that only reads, to an upstream of these protocols. */
  readingHeaders(paths: Paths<Id>, dialect: Dialect): readonly string[] {
    return headersOf(this.#smallestOf(paths)?.protocol ?? {}, dialect);
  }

  #smallestOf(paths: Paths<Id>): SmallProtocol<Id> | null {
    return this.#smallest.find(({ protocol }) => paths[protocol.id] !== undefined) ?? null;
  }
}

interface SmallProtocol<Id extends string> {
  readonly protocol: Pick<ProtocolOf<Id>, 'id' | 'headersFor'>;
  readonly request: SmallestRequest;
}

function headersOf({ headersFor }: Pick<ProtocolOf, 'headersFor'>, dialect: Dialect): readonly string[] {
  return ['accept', 'application/json', ...(headersFor?.(dialect) ?? [])];
}

const table = new ProtocolTable<ProtocolId>(Object.values(protocols));

/** The same of the protocols that are spoken here. */
export const protocolIds = table.ids;
export const upstreamProtocolsOf = table.upstreamProtocolsOf.bind(table);
export const smallestProtocol = table.smallestProtocol.bind(table);
export const smallestCall = table.smallestCall.bind(table);
export const readingHeaders = table.readingHeaders.bind(table);
