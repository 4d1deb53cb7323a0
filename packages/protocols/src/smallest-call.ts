import type { Dialect, ProtocolId } from './inbound-request.ts';
import { fillPath } from './request/upstream-request.ts';

/** The protocols in which a model can be asked for next to nothing, the one preferred most first. */
const ladder = ['chat-completions', 'responses', 'messages', 'generate-content'] as const;

type SmallProtocol = (typeof ladder)[number];

/** What an upstream speaks, by its paths. */
type Paths = Readonly<Partial<Record<ProtocolId, string>>>;

/** A request for one token: whether anybody answers, at the least expense. */
export interface SmallestCall {
  readonly protocol: ProtocolId;
  /** Appended to the channel's base URL. */
  readonly path: string;
  /** Name, value, name, value …, in lower case. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** The protocol a smallest call is made in; null where there is none, as of upstreams that make images only. */
export function smallestProtocol(paths: Paths): SmallProtocol | null {
  return ladder.find((each) => paths[each] !== undefined) ?? null;
}

/** Null where there is none. */
export function smallestCall(paths: Paths, upstreamModel: string, dialect: Dialect): SmallestCall | null {
  const protocol = smallestProtocol(paths);
  const path = protocol === null ? undefined : paths[protocol];
  if (protocol === null || path === undefined) return null;
  return {
    protocol,
    path: fillPath(path, upstreamModel, 'generateContent'),
    headers: ['content-type', 'application/json', ...answerHeaders(protocol, dialect)],
    body: new TextEncoder().encode(JSON.stringify(bodyOf(protocol, upstreamModel, dialect))),
  };
}

/** What goes with every request to an upstream that is spoken to in this protocol. */
export function answerHeaders(protocol: ProtocolId | null, dialect: Dialect): readonly string[] {
  const accept = ['accept', 'application/json'];
  return protocol === 'messages' ? [...accept, 'anthropic-version', dialect.messagesVersion] : accept;
}

function bodyOf(protocol: SmallProtocol, model: string, dialect: Dialect): object {
  const messages = [{ role: 'user', content: 'Hi' }];
  switch (protocol) {
    case 'chat-completions':
      return dialect.maxTokensField === 'max_tokens'
        ? { model, messages, max_tokens: 1 }
        : { model, messages, max_completion_tokens: 1 };
    case 'responses':
      // The least that is accepted there.
      return { model, input: 'Hi', max_output_tokens: 16 };
    case 'messages':
      return { model, messages, max_tokens: 1 };
    case 'generate-content':
      // The model is in the path.
      return {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig: { maxOutputTokens: 1 },
      };
    default:
      return protocol satisfies never;
  }
}
